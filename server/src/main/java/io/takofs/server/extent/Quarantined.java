package io.takofs.server.extent;

/**
 * An extent that nobody owns and that somebody may still reach.
 *
 * @param grantee client that may still write it; 0 when only late readers may be left
 * @param sinceMs time of the entry that put it there
 */
public record Quarantined(Location location, int generation, long grantee, long sinceMs) {}
