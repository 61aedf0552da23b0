package io.takofs.server.namespace;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentStatus;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.extent.CommittedExtent;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.GroupSlabs;
import io.takofs.server.extent.LeftReplicas;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.operation.AppendOperation;
import io.takofs.server.namespace.operation.AttributeQueries;
import io.takofs.server.namespace.operation.ContentSummaryQuery;
import io.takofs.server.namespace.operation.DeleteFilesOperation;
import io.takofs.server.namespace.operation.Detached;
import io.takofs.server.namespace.operation.EntryOperations;
import io.takofs.server.namespace.operation.MoveQueries;
import io.takofs.server.namespace.operation.Opening;
import io.takofs.server.namespace.operation.Queries;
import io.takofs.server.namespace.operation.QuotaOperation;
import io.takofs.server.namespace.operation.ReclaimOperation;
import io.takofs.server.namespace.operation.Recovery;
import io.takofs.server.namespace.operation.Replies;
import io.takofs.server.namespace.operation.SessionOperation;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.CountInProgress;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.namespace.state.OpenLease;
import io.takofs.server.namespace.state.SessionInfo;
import io.takofs.server.namespace.state.State;
import io.takofs.server.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Everything the server knows, as one deterministic function: the same entries applied to the same
 * store give the same replies and, byte for byte, the same maps.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class StateMachine {
  /** Changes that must still fit after an ordinary entry, so that deleting always works. */
  private static final int SPARE = 16;

  /** Changes that must fit for an ordinary request to be logged. */
  private static final int ADMISSION = 64;

  /** Bytes that one call is granted at most. */
  public static final long GRANT_MAX = Opening.GRANT_MAX;

  private final State state;
  private final MoveQueries moves;

  /** Takes {@code store} as it is; a group's first entry is FormatGroup. */
  public StateMachine(Store store) {
    state = new State(store);
    moves = new MoveQueries(state);
  }

  /** Writes the store's summary of what there is now; to be run whenever a checkpoint begins. */
  public void summarize() throws TakoException {
    state.summarize();
  }

  /**
   * The reply to send instead of logging {@code request}, or null when it may be logged. Ask before
   * each propose: it keeps enough pages back that what was logged can be applied.
   */
  public Reply refusal(Request request) {
    if (frees(request) || state.store.hasRoom(ADMISSION)) {
      return null;
    }
    boolean mayCome = reclaimPending() && !request.getHasWaited();
    return Replies.failure(
        new TakoException(
            mayCome ? Status.UNAVAILABLE : Status.NO_SPACE,
            "no space for metadata: %d of %d pages in use; delete files or enlarge the metadata zone"
                .formatted(state.store.pagesUsed(), state.store.pagesTotal())));
  }

  /**
   * Applies one committed entry. A failed one changes nothing but its recorded result, unless it
   * needs a count for a quota first, which it begins, or deletes many files, one by one.
   *
   * @param index position in the log, larger than that of any entry applied before
   */
  public Reply apply(long index, LogEntry entry) {
    if (!state.isFormatted() && !entry.hasFormatGroup()) {
      return Replies.failure(malformed("the group's first entry does not format it"));
    }
    state.store.beginEntry();
    state.quotas.begin();
    state.advanceTo(entry.getTimeMs());
    if (entry.getCommandCase() == LogEntry.CommandCase.RECLAIM) {
      return ReclaimOperation.apply(state, index, entry);
    }
    Context context = Context.of(state, index, entry);
    if (!isRecorded(entry)) {
      return attempt(context, entry.hasGrantMove() ? SPARE : 0);
    }
    Request request = entry.getRequest();
    long sequence = entry.getSequence();
    long acknowledgedBelow = request.getAcknowledgedBelow();
    Reply reply;
    try {
      SessionOperation.require(state, entry.getClientId());
      reply = state.results.find(entry.getClientId(), sequence, acknowledgedBelow);
    } catch (TakoException e) {
      return Replies.failure(e);
    }
    if (request.hasDeleteFiles() && (reply == null || isPartial(reply))) {
      return DeleteFilesOperation.apply(state, index, entry, reply);
    }
    if (reply == null) {
      reply = attempt(context, frees(request) ? 0 : SPARE);
      if (reply.getStatus() != Status.OK && reply.getStatus() != Status.UNAVAILABLE) {
        recordFailure(Context.of(state, index, entry), reply);
      }
    }
    return request.hasAppend() ? AppendOperation.complete(state, reply) : reply;
  }

  /** Whether the reply is kept; what opens or ends a session can be done twice. */
  private static boolean isRecorded(LogEntry entry) {
    return entry.hasRequest() && isRecorded(entry.getRequest());
  }

  /** Whether the reply to a mutation is kept under the call's number. */
  public static boolean isRecorded(Request request) {
    return !request.hasOpenSession() && !request.hasCloseSession();
  }

  /**
   * Executes and makes the changes, with the recorded result, or undoes everything. An operation
   * that must wait for a count is UNAVAILABLE and not recorded: it is executed when sent again.
   */
  private Reply attempt(Context context, int spare) {
    try {
      Reply reply = EntryOperations.execute(context);
      if (isRecorded(context.entry()) && reply.getStatus() == Status.OK) {
        state.results.record(context, reply);
      }
      context.tx().commit(spare);
      return reply;
    } catch (CountInProgress e) {
      context.tx().abort();
      return Replies.failure(QuotaOperation.counting(e.quota()));
    } catch (TakoException e) {
      context.tx().abort();
      return Replies.failure(e);
    }
  }

  private void recordFailure(Context context, Reply reply) {
    try {
      state.results.record(context, reply);
      context.tx().commit(0);
    } catch (TakoException e) {
      // Without a record a repeated call is tried again, which is right too: it changed nothing.
      context.tx().abort();
    }
  }

  /**
   * Checks what a client says of itself, when a session begins and when it is resumed.
   *
   * @throws TakoException INVALID_ARGUMENT
   */
  public static void check(OpenSessionRequest request) throws TakoException {
    SessionOperation.check(request);
  }

  /** Whether {@code reply} is that to a part of a call, which {@link #next} goes on with. */
  public static boolean isPartial(Reply reply) {
    return reply.getDeleteResults().getRemaining() > 0;
  }

  /**
   * The part of a mutation to log next: all of it, or the next part of one that would change too
   * many records at once. The parts have the call's number, and the last reply is the call's.
   *
   * @param reply to what was logged of it before; null for nothing
   * @throws TakoException INVALID_ARGUMENT when it is too large for any number of parts, MALFORMED
   *     when what was logged under its number was of another call
   */
  public static Request next(Request asked, Reply reply) throws TakoException {
    if (asked.hasDeleteFiles()) {
      return DeleteFilesOperation.next(asked, reply);
    }
    if (reply != null) {
      throw malformed(
          asked.getOperationCase() + " has the number of a call that deletes and is not done");
    }
    return asked;
  }

  /** Whether a request makes room, or ends what holds it, and so may use the last pages. */
  private static boolean frees(Request request) {
    return switch (request.getOperationCase()) {
      case CLOSE_SESSION, DELETE, DELETE_FILES, TRUNCATE, RECOVER_LEASE -> true;
      case COMMIT_EXTENTS ->
          request.getCommitExtents().getClose()
              && request.getCommitExtents().getExtentsCount() == 0
              && request.getCommitExtents().getInlineData().isEmpty();
      default -> false;
    };
  }

  private static TakoException malformed(String what) {
    return new TakoException(Status.MALFORMED, what);
  }

  /** Answers a request that changes nothing. */
  public Reply query(Caller caller, Request request) {
    try {
      return switch (request.getOperationCase()) {
        case GET_FILE -> Queries.getFile(state, caller, request.getGetFile());
        case LIST -> Queries.list(state, caller, request.getList());
        case GET_EXTENTS -> Queries.getExtents(state, caller, request.getGetExtents());
        case GET_CONTENT_SUMMARY ->
            ContentSummaryQuery.apply(state, caller, request.getGetContentSummary());
        case GET_USAGE -> Queries.getUsage(state);
        case GET_ACL -> AttributeQueries.getAcl(state, caller, request.getGetAcl());
        case CHECK_ACCESS -> AttributeQueries.checkAccess(state, caller, request.getCheckAccess());
        case GET_QUOTA -> QuotaOperation.get(state, caller, request.getGetQuota());
        case GET_XATTRS -> AttributeQueries.getXAttrs(state, caller, request.getGetXattrs());
        default ->
            throw malformed(
                "%s is not a query of the namespace".formatted(request.getOperationCase()));
      };
    } catch (TakoException e) {
      return Replies.failure(e);
    }
  }

  /**
   * The reply of a call that was executed before, or null. All checks that could refuse a call come
   * after this one, because a call whose reply was lost has happened.
   *
   * @throws TakoException for a call that can not be answered any more, or of an unknown session
   */
  public Reply recorded(long clientId, long sequence, Request request) throws TakoException {
    SessionOperation.require(state, clientId);
    Reply reply = state.results.find(clientId, sequence, request.getAcknowledgedBelow());
    return reply != null && request.hasAppend() ? AppendOperation.complete(state, reply) : reply;
  }

  /**
   * Checks that {@code clientId} holds a lease.
   *
   * @throws TakoException LEASE_LOST
   */
  public void checkLease(long clientId, long fileId, long leaseEpoch) throws TakoException {
    Recovery.requireLease(state, clientId, fileId, leaseEpoch);
  }

  /**
   * The extents that the holder of a lease may write: those granted to its file, and the last one
   * of the file while it can grow.
   */
  public List<Extent> writable(long fileId) {
    List<Extent> extents = new ArrayList<>();
    for (Grant grant : state.extents.granted(fileId)) {
      extents.add(grant.toProto());
    }
    Lease lease = state.leases.get(fileId);
    FileExtent last = state.data.last(state.tree.get(lease.parentId(), lease.name()).inode());
    if (last != null && last.canGrow()) {
      extents.add(last.toProto(Math.max(last.generation(), lease.epoch())));
    }
    return extents;
  }

  /**
   * Those of {@code extents}, which {@code clientId} was given for a file, that it may write still:
   * it holds the lease, and they are granted or can grow.
   */
  public List<Extent> writableBy(long clientId, long fileId, List<Extent> extents) {
    Lease lease = state.leases.get(fileId);
    if (lease == null || lease.clientId() != clientId) {
      return List.of();
    }
    List<Extent> writable = writable(fileId);
    return extents.stream()
        .filter(extent -> writable.stream().anyMatch(mine -> isSameExtent(mine, extent)))
        .toList();
  }

  private static boolean isSameExtent(Extent one, Extent other) {
    return SlabRange.of(one).equals(SlabRange.of(other))
        && one.getGeneration() == other.getGeneration();
  }

  /** The leases that have ended since this was last asked. */
  public List<OpenLease> takeEndedLeases() {
    List<Lease> ended = state.leases.takeEnded();
    return ended.isEmpty() ? List.of() : ended.stream().map(OpenLease::of).toList();
  }

  /** Sessions, in order of id. */
  public List<SessionInfo> sessions() {
    return state.sessions.all();
  }

  /** The session of {@code clientId}, or null. */
  public SessionInfo session(long clientId) {
    return state.sessions.get(clientId);
  }

  /** Files open for writing, in order of id. */
  public List<OpenLease> leases() {
    return state.leases.all().stream().map(OpenLease::of).toList();
  }

  /** Up to {@code limit} files open for writing whose ids are above {@code afterFileId}. */
  public List<OpenLease> leases(long afterFileId, int limit) {
    return state.leases.after(afterFileId, limit).stream().map(OpenLease::of).toList();
  }

  /** The client that must have lapsed for {@code request} to take its file over; 0 for none. */
  public long writerInTheWay(Caller caller, Request request) {
    return Recovery.writerInTheWay(state, caller, request);
  }

  /** Whether {@code clientId} has a file open for writing. */
  public boolean hasLeases(long clientId) {
    return state.leases.countOf(clientId) > 0;
  }

  /** The number of files open for writing. */
  public int openFiles() {
    return state.leases.size();
  }

  /** Extents by state. */
  public List<ExtentStatus> extents() {
    return state.extents.byState();
  }

  /** Bytes that commits have added to files since this was made. */
  public long committedBytes() {
    return state.committedBytes();
  }

  /**
   * Up to {@code limit} extents in quarantine since {@code untilMs} or before; looks at no more
   * than twice as many records. Successive calls go round all of them, those first that none has
   * given yet.
   */
  public List<Quarantined> quarantined(long untilMs, int limit) {
    return state.extents.quarantined(untilMs, limit);
  }

  /** Whether the writer of an extent in quarantine may read it back: it has not given it up. */
  public boolean isKept(Quarantined extent) {
    return state.isKept(extent);
  }

  /** Whether there may be one that {@link #quarantined} has not given yet. */
  public boolean hasFreshQuarantined(long untilMs) {
    return state.extents.hasFreshQuarantined(untilMs);
  }

  /** Extents in quarantine. */
  public long quarantinedCount() {
    return state.extents.quarantinedCount();
  }

  /** The latest time of any entry that was applied, ms: no later one may have an earlier time. */
  public long latestTimeMs() {
    return state.latestMs();
  }

  /**
   * Whether a {@code Reclaim} entry would find something to do; it may have to wait for a count.
   */
  public boolean reclaimPending() {
    return Detached.first(state) != null;
  }

  /** Whether a {@code CountQuotas} entry would find something to do. */
  public boolean countPending() {
    return state.quotas.counting() != null;
  }

  /** Committed bytes of the extent of {@code fileId} at {@code fileOffset}; 0 without one. */
  public int committedLength(long fileId, long fileOffset) {
    FileExtent extent = state.data.at(fileId, fileOffset);
    return extent == null || extent.fileOffset() != fileOffset ? 0 : extent.length();
  }

  /** The slabs of the group. Only entries change them. */
  public GroupSlabs slabs() {
    return state.slabs();
  }

  /**
   * Replicas that left their slabs and may still be lent to the group. Only entries change them.
   */
  public LeftReplicas leftReplicas() {
    return state.extents.left();
  }

  /** Whether what is in a slab only rests in quarantine, so that the slab can go. */
  public boolean isUnused(long slab) {
    return state.isUnused(slab);
  }

  /** The committed extents in a slab, as they are to be copied and verified. */
  public List<Extent> committedIn(long slab) {
    return state.committedIn(slab).stream().map(FileExtent::toProto).toList();
  }

  /** The files to which the committed extents in a slab belong, in the order of the extents. */
  public List<CommittedExtent> extentsIn(long slab) {
    return state.extents.committedIn(slab);
  }

  /** Whether somebody may write in a slab: an extent of it is granted. */
  public boolean isWrittenIn(long slab) {
    return !state.extents.grantedIn(slab).isEmpty();
  }

  /** Whether a writer may read back something that rests in a slab. */
  public boolean isReadBack(long slab) {
    return state.extents.quarantinedIn(slab).stream().anyMatch(state::isKept);
  }

  /** The files whose data is to move. Only entries change them. */
  public MoveQueries moves() {
    return moves;
  }

  /** The limits with which the group was formatted; null before its first entry. */
  public Limits limits() {
    return state.limits();
  }

  /**
   * Bytes that can be granted now to files that are to have {@code copies} copies, none of them at
   * {@code avoided} servers.
   */
  public long freeBytes(int copies, Set<Integer> avoided) {
    return state.extents.freeBytes(copies, avoided);
  }

  /** Those of them, whatever is avoided, that have a copy at {@code server}. */
  public long freeBytesNear(int copies, int server) {
    return state.extents.freeBytesNear(copies, server);
  }

  /** Copies that the file is to have that {@code request} wants extents for; 0 for no such file. */
  public int copies(Caller caller, Request request) {
    return Opening.copies(state, caller, request);
  }

  /** Bytes of the slabs of the group, each counted once. */
  public SpaceUsage usage() {
    return Queries.usage(state);
  }

  /** Files that have a directory entry, those of detached directories included. */
  public long files() {
    return state.files();
  }

  /** Directories, the root and those in detached directories included. */
  public long directories() {
    return state.directories();
  }
}
