package io.takofs.server.extent;

import io.takofs.proto.Extent;

/**
 * An extent that one client may write, for one file; or that the copier may, for no file.
 *
 * @param generation index of the log entry that granted it
 */
public record Grant(SlabRange range, long generation, long clientId, long fileId) {
  /**
   * The id under which data servers are granted extents to which files move. No session has it: it
   * is that of a server with the number 0.
   */
  public static final long COPIER = Long.MIN_VALUE;

  /** In place of the file in a grant of the copier: what it is for only the leader remembers. */
  public static final long NO_FILE = 0;

  /** The grant, for a message. */
  public Extent toProto() {
    return range.toProto().setGeneration(generation).setGrant(generation).build();
  }
}
