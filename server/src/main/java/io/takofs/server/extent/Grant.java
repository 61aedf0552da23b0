package io.takofs.server.extent;

import io.takofs.proto.Extent;

/**
 * An extent that one client may write, for one file.
 *
 * @param generation index of the log entry that granted it
 */
public record Grant(SlabRange range, long generation, long clientId, long fileId) {
  /** The grant, for a message. */
  public Extent toProto() {
    return range.toProto().setGeneration(generation).setGrant(generation).build();
  }
}
