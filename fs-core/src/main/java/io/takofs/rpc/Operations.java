package io.takofs.rpc;

import io.takofs.proto.Request.OperationCase;

/** Properties of the operations that client and server must agree on. */
public final class Operations {
  /**
   * Sources of one request to concatenate files. The server joins them with one entry of the log,
   * and each may lie in another shard.
   */
  public static final int CONCAT_SOURCES_MAX = 16;

  private Operations() {}

  /**
   * Whether {@code operation} changes what the log keeps. It is then executed exactly once: its
   * call has a number under which the server records the result. Any other may be executed again
   * when its reply was lost, and is recorded nowhere.
   */
  public static boolean isMutation(OperationCase operation) {
    return switch (operation) {
      case OPEN_SESSION,
          CLOSE_SESSION,
          MKDIRS,
          CREATE,
          APPEND,
          RENAME,
          DELETE,
          TRUNCATE,
          SET_ATTRIBUTES,
          RECOVER_LEASE,
          GRANT_EXTENTS,
          COMMIT_EXTENTS,
          CONCAT,
          DELETE_FILES,
          SET_ACL,
          SET_XATTR,
          REMOVE_XATTR,
          SET_QUOTA ->
          true;
      case RENEW_LEASES,
          GET_ARENAS,
          GET_FILE,
          LIST,
          GET_EXTENTS,
          GET_CONTENT_SUMMARY,
          GET_USAGE,
          GET_SERVER_STATUS,
          GET_ACL,
          CHECK_ACCESS,
          GET_XATTRS,
          GET_QUOTA,
          LIST_LEASES,
          SET_SAFE_MODE,
          FORCE_REPAIR,
          GET_CLUSTER_MAP,
          GET_CLUSTER_STATUS,
          OPEN_DATA_SESSION,
          OPEN_WINDOWS,
          REPORT_REPLICAS,
          OPEN_SERVER_SESSION,
          LEASE_SLABS,
          RETURN_SLABS,
          LIST_SLABS,
          FENCE_EXTENTS,
          COPY_EXTENTS,
          ASK_LOG,
          PREPARE_LOG,
          GRANT_LOG,
          ADOPT_LOG,
          EXTEND_LOG,
          MOVE_LEADER,
          REPLACE_MEMBER,
          CATALOG_CALL,
          OPEN_SNAPSHOT,
          RENEW_SNAPSHOT,
          CLOSE_SNAPSHOT,
          OPERATION_NOT_SET ->
          false;
    };
  }

  /** Whether any server answers it, with a session or without, so that its answer shows none. */
  public static boolean isForAnyServer(OperationCase operation) {
    return operation == OperationCase.GET_CLUSTER_MAP
        || operation == OperationCase.GET_CLUSTER_STATUS;
  }
}
