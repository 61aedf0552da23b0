package io.takofs.server.loggroup;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.CheckpointStatus;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.log.Log;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.store.Store;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps log, state machine and store in step: what is executed is logged first, what is logged is
 * applied in order, and checkpoints trim the log.
 *
 * <p>An entry is applied when it is proposed, so that whoever proposed it goes on at once, with the
 * state that it left. It has happened when the log has committed it, which may be later: until then
 * nothing that may tell of it leaves the group. So a reply is held with the {@link #ticket} of the
 * newest entry there was, whether it is a query's or a change's; what data servers are asked waits
 * with {@link #whenCommitted}; and a checkpoint is finished when its last entry is committed. A log
 * that commits within {@link Log#poll}, as that of a single member does, delays none of them.
 *
 * <p>A state machine that fails on a committed entry is a bug that a retry would only repeat: from
 * then on everything is refused with UNAVAILABLE, and the state on disk stays as the log says.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class Journal {
  private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

  private final Clock clock;
  private final Log log;
  private final Store store;
  private final StateMachine machine;
  private final Counters counters;
  private final long checkpointBytes;
  private long appliedIndex;
  private long committedIndex; // delivered, and the same as what was applied
  private long appliedBytes; // of entries
  private long checkpointedBytes;
  private boolean checkpointing;
  private long checkpointBeganNs;
  private long checkpointDoneNs;
  private long checkpointTookNs;
  private long checkpoints;
  private long frozenIndex;
  private long proposedIndex;
  private Ticket ticket;
  private final Queue<Waiting> waiting = new ArrayDeque<>();
  private Reply lastReply;
  private String failure;
  private boolean diverged;
  private boolean leads;

  /** An action that waits until an entry is committed. */
  private record Waiting(Ticket ticket, Runnable action) {}

  Journal(
      Clock clock,
      Log log,
      Store store,
      StateMachine machine,
      Counters counters,
      long checkpointBytes) {
    this.clock = clock;
    this.log = log;
    this.store = store;
    this.machine = machine;
    this.counters = counters;
    this.checkpointBytes = checkpointBytes;
    this.appliedIndex = store.checkpointIndex();
    this.committedIndex = appliedIndex;
    this.ticket = new Ticket(appliedIndex, 0);
    this.checkpointDoneNs = clock.nanoTime();
    store.onCheckpoint(() -> machine.summarize());
  }

  /**
   * Begins {@code term}: entries executed from now on are of it.
   *
   * @throws TakoException STALE_TERM when the log has entries of a later one; nothing is executed
   *     then. NOT_LEADER when another server leads by now
   */
  void lead(long term) throws TakoException {
    try {
      log.lead(term);
    } catch (TakoException e) {
      if (e.status() == Status.STALE_TERM) {
        stop(e.getMessage());
      }
      throw e;
    }
    ticket = new Ticket(appliedIndex, term);
    leads = true;
  }

  /** Leads no more: nothing waits any more for what was not committed. */
  void follow() {
    leads = false;
    waiting.clear();
  }

  /**
   * Applies what the log holds above the checkpoint; returns how many entries that were.
   *
   * @throws TakoException INTERNAL when an entry cannot be applied
   */
  public int recover() throws TakoException {
    int count = log.poll(this::onCommit);
    checkUsable();
    ticket = new Ticket(appliedIndex, 0);
    if (count > 0) {
      checkpoint();
    }
    return count;
  }

  /**
   * Logs {@code entry} and applies it; {@link #ticket} is its ticket then.
   *
   * @return the reply, which nobody outside of the group may see before the entry is committed
   * @throws TakoException NO_SPACE when the log is full even after a checkpoint, INVALID_ARGUMENT
   *     when the entry is too large for it, INTERNAL when it stands in the log and cannot be
   *     applied, so that its outcome is unknown, UNAVAILABLE after a failure, or while there is no
   *     room until a checkpoint covers what is not committed yet
   * @throws RuntimeException when the entry cannot be written or made persistent; its outcome is
   *     unknown until the server is started again, so its sender must not get an answer
   */
  public Reply execute(LogEntry entry) throws TakoException {
    checkUsable();
    if (!isCommitted(ticket) && store.checkpointDue()) {
      throw checkpointWaits();
    }
    ByteBuffer payload = entry.toByteString().asReadOnlyByteBuffer();
    lastReply = null;
    long index;
    try {
      index = propose(payload);
      proposedIndex = index;
      log.poll(this::onCommit);
      proposedIndex = 0;
    } catch (RuntimeException | Error e) {
      // The log may have the entry, or a part of it: whatever is written after it would commit it.
      stop("a log entry could not be written: " + e);
      throw e;
    }
    if (failure == null) {
      apply(index, entry);
    }
    if (failure != null) {
      throw new TakoException(
          Status.INTERNAL,
          "whether this was executed is unknown until the server is started again, look then: "
              + failure);
    }
    ticket = new Ticket(index, log.term());
    appliedBytes += payload.limit();
    beginCheckpointIfWanted();
    return lastReply;
  }

  private void beginCheckpointIfWanted() {
    if (appliedBytes - checkpointedBytes >= checkpointBytes
        || store.checkpointWanted()
        || log.wantsTrim()) {
      beginCheckpoint();
    }
  }

  private long propose(ByteBuffer payload) throws TakoException {
    try {
      return log.propose(payload);
    } catch (TakoException e) {
      if (e.status() != Status.NO_SPACE) {
        throw e;
      }
      if (!isCommitted(ticket)) {
        throw checkpointWaits();
      }
      checkpoint();
      return log.propose(payload.rewind());
    }
  }

  private TakoException checkpointWaits() {
    beginCheckpoint();
    return new TakoException(
        Status.UNAVAILABLE,
        "the log or the metadata zone has no room until entries are committed; try again");
  }

  private void onCommit(long index, long term, ByteBuffer payload) {
    if (failure != null || diverged) {
      return;
    }
    if (index > appliedIndex && index != proposedIndex) {
      appliedBytes += payload.remaining();
      apply(index, payload);
    } else if (index <= appliedIndex && term != log.term()) {
      diverged = true; // a later leader's entry came in place of the one that was applied here
      return;
    }
    // A proposed entry is applied after the poll, from the object that was proposed.
    committedIndex = index;
  }

  /**
   * Whether the state has entries that were never committed, and others are committed instead, or
   * no checkpoint can be made because of them, which is needed: it has to be made again from the
   * last checkpoint, and nothing is executed any more.
   */
  public boolean hasDiverged() {
    return diverged;
  }

  private void apply(long index, ByteBuffer payload) {
    if (!payload.hasRemaining()) {
      appliedIndex = index; // a leader began its term
      return;
    }
    try {
      apply(index, LogEntry.parseFrom(payload));
    } catch (InvalidProtocolBufferException e) {
      stopAt(index, e);
    }
  }

  private void apply(long index, LogEntry entry) {
    try {
      if (store.checkpointDue()) {
        store.checkpoint(appliedIndex);
      }
      lastReply = machine.apply(index, entry);
      appliedIndex = index;
      counters.add("log.applied", 1);
    } catch (RuntimeException | Error e) {
      stopAt(index, e);
    }
  }

  /** The entry may have been applied in part, so nothing may follow it. */
  private void stopAt(long index, Throwable e) {
    failure = "log entry " + index + " cannot be applied: " + e;
    Facts.of("entry", index).error(LOG, failure + "; the server refuses all calls from now on", e);
  }

  // ---- what is committed ------------------------------------------------------------------------

  /** The newest entry: once it is committed, all that the state says now has happened. */
  public Ticket ticket() {
    return ticket;
  }

  /** Whether an entry is committed, and so all before it. */
  public boolean isCommitted(Ticket entry) {
    return entry.index() <= committedIndex;
  }

  /** Whether all entries are committed, and nothing waits for that any more. */
  boolean isSettled() {
    return waiting.isEmpty() && isCommitted(ticket);
  }

  /**
   * Runs {@code action} when all entries that there are now are committed, and what was to be done
   * before it is done: at once, or in a {@link #poll}; never when the journal has stopped before.
   */
  public void whenCommitted(Runnable action) {
    if (isSettled()) {
      action.run();
    } else {
      waiting.add(new Waiting(ticket, action));
    }
  }

  /**
   * Learns what has been committed by now, and does what waited for that. Never blocks.
   *
   * @throws RuntimeException when entries cannot be made persistent; nothing is executed from then
   *     on
   */
  public void poll() {
    if (failure == null && !isCommitted(ticket)) {
      learn();
    }
    while (failure == null && !waiting.isEmpty() && isCommitted(waiting.peek().ticket)) {
      waiting.remove().action.run();
    }
  }

  private void learn() {
    try {
      log.poll(this::onCommit);
    } catch (RuntimeException | Error e) {
      stop("the log could not be written: " + e);
      throw e;
    }
  }

  /**
   * Applies what was committed by whoever leads, for a member that does not. Never blocks.
   *
   * @return whether there was anything
   * @throws RuntimeException as {@link #poll}
   */
  public boolean applyCommitted() {
    long before = appliedIndex;
    if (failure == null && !diverged) {
      learn();
      if (!diverged && isSettled()) {
        beginCheckpointIfWanted();
      } else if (log.needsCheckpoint()) {
        diverged = true; // what is not committed may never be
      }
    }
    return appliedIndex > before;
  }

  /**
   * Refuses all calls from now on, until the server is started again: {@code why} is for people.
   */
  public void stop(String why) {
    if (failure == null) {
      failure = why;
      LOG.error("{}; the server refuses all calls from now on", why);
    }
  }

  /** Why nothing can be executed any more, or null. */
  public String failure() {
    return failure;
  }

  /** Throws UNAVAILABLE once the state machine has failed. */
  public void checkUsable() throws TakoException {
    if (diverged) {
      throw new TakoException(
          Status.NOT_LEADER, "this server led before, and makes its state again; ask the leader");
    }
    if (failure != null) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the server stopped serving after an internal error (" + failure + "); see its log");
    }
  }

  // ---- checkpoints ------------------------------------------------------------------------------

  /**
   * Makes a whole checkpoint now, and trims the log; nothing while there are entries that are not
   * committed.
   */
  public void checkpoint() {
    if (failure != null || diverged || !isCommitted(ticket)) {
      return;
    }
    if (!checkpointing) {
      checkpointBegins();
    }
    checkpointedBytes = appliedBytes;
    stopOnFailure(
        () -> {
          store.checkpoint(appliedIndex);
          finishCheckpoint();
        });
  }

  /** Begins a checkpoint that {@link #advanceCheckpoint} carries on, unless one is under way. */
  public void beginCheckpoint() {
    if (!checkpointing && failure == null) {
      checkpointedBytes = appliedBytes;
      store.beginCheckpoint(appliedIndex);
      checkpointBegins();
    }
  }

  /**
   * Begins a checkpoint because another member needs one. A member that led before, with entries
   * that may never be committed, can make none; then its state {@link #hasDiverged}.
   */
  public void beginCheckpointForAnother() {
    if (leads || isSettled()) {
      beginCheckpoint();
    } else if (failure == null) {
      diverged = true;
    }
  }

  private void checkpointBegins() {
    checkpointing = true;
    frozenIndex = appliedIndex;
    checkpointBeganNs = clock.nanoTime();
  }

  boolean checkpointing() {
    return checkpointing;
  }

  /**
   * Does {@code pages} pages of the checkpoint under way, if there is one and what it has is
   * committed.
   *
   * @throws RuntimeException when it cannot be made persistent; nothing is executed from then on
   */
  void advanceCheckpoint(int pages) {
    if (!checkpointing || failure != null || frozenIndex > committedIndex) {
      return;
    }
    stopOnFailure(
        () -> {
          if (store.advanceCheckpoint(pages)) {
            finishCheckpoint();
          }
        });
  }

  /** A page that a medium failed to keep may look kept to whoever asks again: nothing follows. */
  private void stopOnFailure(Runnable writing) {
    try {
      writing.run();
    } catch (RuntimeException | Error e) {
      stop("a checkpoint could not be written: " + e);
      throw e;
    }
  }

  private void finishCheckpoint() {
    checkpointing = false;
    log.trim(store.checkpointIndex());
    counters.add("checkpoints", 1);
    checkpoints++;
    checkpointDoneNs = clock.nanoTime();
    checkpointTookNs = checkpointDoneNs - checkpointBeganNs;
  }

  CheckpointStatus checkpointStatus() {
    return CheckpointStatus.newBuilder()
        .setRunning(checkpointing)
        .setMade(checkpoints)
        .setLastMs(TimeUnit.NANOSECONDS.toMillis(checkpointTookNs))
        .setAgeMs(TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - checkpointDoneNs))
        .build();
  }

  long lastIndex() {
    return log.lastIndex();
  }

  long appendedBytes() {
    return log.appendedBytes();
  }
}
