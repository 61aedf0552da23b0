package io.takofs.server;

import io.takofs.proto.Request.OperationCase;

/** What has to prove that the state was the newest from which a call was answered. */
enum ProofDue {
  /** Its own entry does, once it is committed. */
  NONE,
  /** A lease is enough, where this server has one. */
  LEASE,
  /** A round of heartbeats that began after the state was read. */
  ROUND;

  /**
   * What a call needs that has made no entry. Only queries of the namespace make do with a lease:
   * upon other answers, such as which grants live, somebody writes where nobody checks it again.
   */
  static ProofDue of(OperationCase operation) {
    return switch (operation) {
      case GET_FILE,
          LIST,
          GET_EXTENTS,
          GET_CONTENT_SUMMARY,
          GET_ACL,
          CHECK_ACCESS,
          GET_XATTRS,
          GET_QUOTA ->
          LEASE;
      default -> ROUND;
    };
  }
}
