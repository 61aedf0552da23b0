package io.takofs.sim.cluster;

import io.takofs.base.TakoException;
import io.takofs.server.log.Log;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A log whose entries are committed some time after they were proposed, as if others had to
 * acknowledge them, so that several are outstanding. Until then they are frames in memory of which
 * nobody knows, and a kill may take them away.
 */
final class SlowCommits implements Log {
  private static final long DELAY_MAX_NS = 3_000_000;
  private static final long LONG_DELAY_MAX_NS = 400_000_000;

  /** Part of the entries that take long. */
  private static final double LONG = 0.02;

  /** An entry that is not committed yet. */
  private record Outstanding(long index, long committedNs) {}

  /** An entry that the log has delivered. */
  private record Delivered(long index, long term, ByteBuffer payload) {}

  private final Log log;
  private final SimScheduler scheduler;
  private final SimProcess owner;
  private final boolean early;
  private final Deque<Outstanding> outstanding = new ArrayDeque<>();
  private final Deque<Delivered> delivered = new ArrayDeque<>();
  private Runnable listener = () -> {};
  private long commitIndex;
  private long toldIndex; // of an entry that was delivered too early
  private int mostOutstanding;

  /**
   * @param early whether it wrongly says of each entry that it is committed, before it is
   */
  SlowCommits(Log log, SimScheduler scheduler, SimProcess owner, boolean early) {
    this.log = log;
    this.scheduler = scheduler;
    this.owner = owner;
    this.early = early;
    this.commitIndex = log.commitIndex();
  }

  /** Runs {@code committed} when entries may have been committed. */
  void onCommit(Runnable committed) {
    listener = committed;
  }

  /** Entries that are not committed. */
  int outstanding() {
    return outstanding.size();
  }

  /** Most entries that were outstanding at one time. */
  int mostOutstanding() {
    return mostOutstanding;
  }

  @Override
  public void lead(long term) throws TakoException {
    log.lead(term);
  }

  @Override
  public long term() {
    return log.term();
  }

  @Override
  public long propose(ByteBuffer payload) throws TakoException {
    long index = log.propose(payload);
    boolean takesLong = scheduler.random().nextDouble() < LONG;
    long delay = scheduler.delayNs(0, takesLong ? LONG_DELAY_MAX_NS : DELAY_MAX_NS);
    long committedNs = scheduler.nowNs() + delay;
    if (!outstanding.isEmpty()) {
      committedNs = Math.max(committedNs, outstanding.getLast().committedNs);
    }
    outstanding.add(new Outstanding(index, committedNs));
    mostOutstanding = Math.max(mostOutstanding, outstanding.size());
    scheduler.schedule(owner, committedNs - scheduler.nowNs(), () -> listener.run());
    return index;
  }

  @Override
  public int poll(CommitHandler handler) {
    long known = commitIndex;
    while (!outstanding.isEmpty() && outstanding.peek().committedNs <= scheduler.nowNs()) {
      commitIndex = outstanding.remove().index;
    }
    if (commitIndex > known || known == log.commitIndex()) {
      log.poll((index, term, payload) -> delivered.add(new Delivered(index, term, copy(payload))));
    }
    int count = 0;
    while (!delivered.isEmpty() && delivered.peek().index <= commitIndex) {
      Delivered entry = delivered.remove();
      if (entry.index > toldIndex) {
        handler.onCommit(entry.index, entry.term, entry.payload);
        count++;
      }
    }
    return early ? count + tellEarly(handler) : count;
  }

  /** Who proposed an entry needs nothing of it but its index and term. */
  private int tellEarly(CommitHandler handler) {
    int count = 0;
    for (Outstanding entry : outstanding) {
      if (entry.index > toldIndex) {
        toldIndex = entry.index;
        handler.onCommit(entry.index, log.term(), ByteBuffer.allocate(0));
        count++;
      }
    }
    return count;
  }

  private static ByteBuffer copy(ByteBuffer payload) {
    return ByteBuffer.allocate(payload.remaining()).put(payload.duplicate()).flip();
  }

  @Override
  public long lastIndex() {
    return log.lastIndex();
  }

  @Override
  public long commitIndex() {
    return early ? log.lastIndex() : commitIndex;
  }

  @Override
  public long appendedBytes() {
    return log.appendedBytes();
  }

  @Override
  public int segmentCount() {
    return log.segmentCount();
  }

  @Override
  public int freeSegmentCount() {
    return log.freeSegmentCount();
  }

  @Override
  public void trim(long index) {
    log.trim(Math.min(index, log.commitIndex()));
  }

  @Override
  public void close() {
    log.close();
  }
}
