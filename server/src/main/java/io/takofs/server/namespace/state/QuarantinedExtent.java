package io.takofs.server.namespace.state;

import io.takofs.proto.Extent;

/**
 * An extent that nobody owns and that somebody may still reach.
 *
 * @param extent arena, offset, capacity and generation, as {@code FreeExtents} wants them
 * @param granteeId client that may still write it; 0 when only readers may be left
 * @param sinceMs time of the entry that put it there
 */
public record QuarantinedExtent(Extent extent, long granteeId, long sinceMs) {}
