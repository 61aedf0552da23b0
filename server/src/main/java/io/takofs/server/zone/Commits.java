package io.takofs.server.zone;

import io.takofs.proto.CommitExtents;
import io.takofs.proto.Request;

/** The commit in a request that adds written extents to a file. */
public final class Commits {
  private Commits() {}

  /** The commit of {@code request}; an empty one when it has none. */
  public static CommitExtents of(Request request) {
    return request.hasConcat() ? request.getConcat().getCommit() : request.getCommitExtents();
  }
}
