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
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps log, state machine and store in step: what is executed is logged first, what is logged is
 * applied in order, and checkpoints trim the log.
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
  private long checkpointedBytes;
  private boolean checkpointing;
  private long checkpointBeganNs;
  private long checkpointDoneNs;
  private long checkpointTookNs;
  private long checkpoints;
  private LogEntry executed;
  private long executedIndex;
  private Reply lastReply;
  private String failure;

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
    this.checkpointDoneNs = clock.nanoTime();
  }

  /**
   * Applies what the log holds above the checkpoint; returns how many entries that were.
   *
   * @throws TakoException INTERNAL when an entry cannot be applied
   */
  public int recover() throws TakoException {
    int count = log.poll(this::apply);
    checkUsable();
    if (count > 0) {
      checkpoint();
    }
    return count;
  }

  /**
   * The time of the last entry, ms: no later one may have an earlier time. {@link Long#MIN_VALUE}
   * when there is none.
   *
   * @throws TakoException CORRUPT when the entry cannot be read
   */
  public long lastTimeMs() throws TakoException {
    ByteBuffer last = log.last();
    try {
      return last == null ? Long.MIN_VALUE : LogEntry.parseFrom(last).getTimeMs();
    } catch (InvalidProtocolBufferException e) {
      throw new TakoException(
          Status.CORRUPT, "log entry " + log.lastIndex() + " cannot be read: " + e.getMessage(), e);
    }
  }

  /**
   * Logs {@code entry} and applies it.
   *
   * @throws TakoException NO_SPACE when the log is full even after a checkpoint, INVALID_ARGUMENT
   *     when the entry is too large for it, INTERNAL when it stands in the log and cannot be
   *     applied, so that its outcome is unknown, UNAVAILABLE after a failure
   * @throws RuntimeException when the entry cannot be written or made persistent; its outcome is
   *     unknown until the server is started again, so its sender must not get an answer
   */
  public Reply execute(LogEntry entry) throws TakoException {
    checkUsable();
    ByteBuffer payload = entry.toByteString().asReadOnlyByteBuffer();
    lastReply = null;
    try {
      executedIndex = propose(payload);
      executed = entry;
      log.poll(this::apply);
      executed = null;
    } catch (RuntimeException | Error e) {
      // The log may have the entry, or a part of it: whatever is written after it would commit it.
      stop("a log entry could not be written: " + e);
      throw e;
    }
    if (failure != null) {
      throw new TakoException(
          Status.INTERNAL,
          "whether this was executed is unknown until the server is started again, look then: "
              + failure);
    }
    if (log.appendedBytes() - checkpointedBytes >= checkpointBytes || store.checkpointWanted()) {
      beginCheckpoint();
    }
    return lastReply;
  }

  private long propose(ByteBuffer payload) throws TakoException {
    try {
      return log.propose(payload);
    } catch (TakoException e) {
      if (e.status() != Status.NO_SPACE) {
        throw e;
      }
      checkpoint();
      return log.propose(payload.rewind());
    }
  }

  private void apply(long index, ByteBuffer payload) {
    if (failure != null) {
      return;
    }
    try {
      if (store.checkpointDue()) {
        store.checkpoint(appliedIndex);
      }
      // The log returns the proposed entry unchanged; parsing it again costs a tenth of a call.
      boolean known = executed != null && index == executedIndex;
      lastReply = machine.apply(index, known ? executed : LogEntry.parseFrom(payload));
      appliedIndex = index;
      counters.add("log.applied", 1);
    } catch (InvalidProtocolBufferException | RuntimeException | Error e) {
      // It may have been applied in part, so nothing may follow it.
      failure = "log entry " + index + " cannot be applied: " + e;
      Facts.of("entry", index)
          .error(LOG, failure + "; the server refuses all calls from now on", e);
    }
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
    if (failure != null) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the server stopped serving after an internal error (" + failure + "); see its log");
    }
  }

  // ---- checkpoints ------------------------------------------------------------------------------

  /** Makes a whole checkpoint now, and trims the log. */
  public void checkpoint() {
    if (failure != null) {
      return;
    }
    if (!checkpointing) {
      checkpointBegins();
    }
    checkpointedBytes = log.appendedBytes();
    stopOnFailure(
        () -> {
          store.checkpoint(appliedIndex);
          finishCheckpoint();
        });
  }

  /** Begins a checkpoint that {@link #advanceCheckpoint} carries on, unless one is under way. */
  void beginCheckpoint() {
    if (!checkpointing && failure == null) {
      checkpointedBytes = log.appendedBytes();
      store.beginCheckpoint(appliedIndex);
      checkpointBegins();
    }
  }

  private void checkpointBegins() {
    checkpointing = true;
    checkpointBeganNs = clock.nanoTime();
  }

  boolean checkpointing() {
    return checkpointing;
  }

  /**
   * Does {@code pages} pages of the checkpoint under way, if there is one.
   *
   * @throws RuntimeException when it cannot be made persistent; nothing is executed from then on
   */
  void advanceCheckpoint(int pages) {
    if (!checkpointing || failure != null) {
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
