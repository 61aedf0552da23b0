package io.takofs.server.namespace;

import io.takofs.proto.Caller;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.proto.Usage;
import io.takofs.server.store.Store;
import java.util.List;

/**
 * Everything the server knows, as one deterministic function: the same entries applied to the same
 * store give the same replies and, byte for byte, the same maps.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class StateMachine {
  /**
   * Takes {@code store} as it is, or makes the root directory in an empty one.
   *
   * @param arenas bytes of each arena of the data zone, in order of index
   */
  public StateMachine(Store store, List<Long> arenas, Limits limits) {}

  /** Whether {@code request} changes anything and so must go through the log. */
  public static boolean isMutation(Request request) {
    return switch (request.getOperationCase()) {
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
          RELEASE_EXTENTS ->
          true;
      case RENEW_LEASES,
          GET_FILE,
          LIST,
          GET_EXTENTS,
          GET_CONTENT_SUMMARY,
          GET_USAGE,
          GET_SERVER_STATUS,
          OPERATION_NOT_SET ->
          false;
    };
  }

  /**
   * What to answer instead of logging {@code request}, or null when it may be logged. Ask before
   * each propose: it keeps enough pages back that what was logged can always be applied.
   */
  public Reply refusal(Request request) {
    return null;
  }

  /**
   * Applies one committed entry. A failed one changes nothing but its recorded result.
   *
   * @param index position in the log, larger than that of any entry applied before
   */
  public Reply apply(long index, LogEntry entry) {
    return Reply.newBuilder().setStatus(Status.UNSUPPORTED).build();
  }

  /** Answers a request that changes nothing (and {@code RenewLeases} with done). */
  public Reply query(Caller caller, Request request) {
    return Reply.newBuilder().setStatus(Status.UNSUPPORTED).build();
  }

  /** Sessions, in order of id. */
  public List<SessionInfo> sessions() {
    return List.of();
  }

  /** The session of {@code clientId}, or null. */
  public SessionInfo session(long clientId) {
    return null;
  }

  /** Files open for writing, in order of id. */
  public List<OpenLease> leases() {
    return List.of();
  }

  /**
   * Up to {@code limit} extents in quarantine since {@code untilMs} or before. Successive calls go
   * round all of them.
   */
  public List<QuarantinedExtent> quarantined(long untilMs, int limit) {
    return List.of();
  }

  /** Whether a {@code Reclaim} entry would find something to do. */
  public boolean reclaimPending() {
    return false;
  }

  /** Bytes of the data zone. */
  public Usage usage() {
    return Usage.getDefaultInstance();
  }

  /** Files there are, detached ones included until they are reclaimed. */
  public long files() {
    return 0;
  }

  /** Directories there are, the root included. */
  public long directories() {
    return 0;
  }
}
