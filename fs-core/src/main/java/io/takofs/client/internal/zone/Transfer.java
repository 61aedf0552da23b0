package io.takofs.client.internal.zone;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.transport.PollingTurn;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Operations that were posted together and are over together.
 *
 * <p>Thread rule: any thread.
 */
public final class Transfer {
  private enum State {
    UNDER_WAY,
    DONE,
    FAILED
  }

  /** A look whether it is over lasts at least so long, because completions must be polled for. */
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final PollingTurn polling;
  private final Clock clock;
  private final ReadTimes times;
  private final long bytes;
  private final long startNs;
  private final List<Runnable> afterwards = new ArrayList<>(1);
  private volatile State state = State.UNDER_WAY;
  private volatile Thread waiter;
  private volatile String failure = "";

  /**
   * One that is under way.
   *
   * @param polling by which its end is found out
   * @param times what is known of reads over the connection
   * @param bytes that are read; 0 of a write
   */
  Transfer(PollingTurn polling, Clock clock, ReadTimes times, long bytes) {
    this.polling = polling;
    this.clock = clock;
    this.times = times;
    this.bytes = bytes;
    this.startNs = clock.nanoTime();
  }

  /** All bytes are placed. */
  void succeed() {
    end(State.DONE);
  }

  /** The connection ended first. */
  void fail(String why) {
    failure = why;
    end(State.FAILED);
  }

  private void end(State outcome) {
    List<Runnable> actions;
    synchronized (afterwards) {
      state = outcome;
      actions = List.copyOf(afterwards);
    }
    Thread waiting = waiter;
    if (waiting != null) {
      if (bytes > 0 && outcome == State.DONE) { // else it may have been over for a while
        times.took(bytes, clock.nanoTime() - startNs);
      }
      LockSupport.unpark(waiting);
    }
    actions.forEach(Runnable::run);
  }

  /** Runs {@code action} once the local memory is the caller's again, now if it is already. */
  void whenOver(Runnable action) {
    synchronized (afterwards) {
      if (state == State.UNDER_WAY) {
        afterwards.add(action);
        return;
      }
    }
    action.run();
  }

  /** Why it failed; empty when it did not. */
  public String failure() {
    return failure;
  }

  /**
   * Waits as long as reads over this connection usually take; one thread only.
   *
   * @param leastNs to wait at least, from when it began
   * @return whether it is over, be it that the connection ended
   */
  public boolean endsInUsualTime(long leastNs) {
    long usualNs = Math.max(leastNs, times.usualMaxNs(bytes));
    return endsBy(Math.max(startNs + usualNs, clock.nanoTime() + LOOK_NS));
  }

  /** As {@link #endsInUsualTime}, for a moment. */
  public boolean endsSoon() {
    return endsBy(clock.nanoTime() + LOOK_NS);
  }

  private boolean endsBy(long untilNs) {
    waiter = Thread.currentThread();
    polling.await(() -> state != State.UNDER_WAY, untilNs);
    waiter = null;
    return state != State.UNDER_WAY;
  }

  /**
   * Waits for the end; one thread only.
   *
   * @return whether all bytes are placed; false when the connection ended
   * @throws TakoException DEADLINE_EXCEEDED; the transfer is still under way
   */
  public boolean await(long deadlineNs) throws TakoException {
    if (!endsBy(deadlineNs)) {
      throw new TakoException(
          Status.DEADLINE_EXCEEDED, "a transfer of file data did not end in time");
    }
    return state == State.DONE;
  }
}
