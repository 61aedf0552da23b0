package io.takofs.client;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Operations that were posted together and are over together.
 *
 * <p>Thread rule: any thread.
 */
final class Transfer {
  private enum State {
    UNDER_WAY,
    DONE,
    FAILED
  }

  private final Clock clock;
  private final PollingTurn polling;
  private final List<Runnable> afterwards = new ArrayList<>(1);
  private volatile State state = State.UNDER_WAY;
  private volatile Thread waiter;
  private volatile String failure = "";

  /**
   * One that is under way.
   *
   * @param polling by which its end is found out; null where that comes by itself
   */
  Transfer(Clock clock, PollingTurn polling) {
    this.clock = clock;
    this.polling = polling;
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
  String failure() {
    return failure;
  }

  /**
   * Waits for the end; one thread only.
   *
   * @return whether all bytes are placed; false when the connection ended
   * @throws TakoException DEADLINE_EXCEEDED; the transfer is still under way
   */
  boolean await(long deadlineNs) throws TakoException {
    boolean interrupted = false;
    waiter = Thread.currentThread();
    try {
      while (state == State.UNDER_WAY) {
        long left = deadlineNs - clock.nanoTime();
        if (left <= 0) {
          throw new TakoException(
              Status.DEADLINE_EXCEEDED, "a transfer of file data did not end in time");
        }
        if (polling == null) {
          clock.parkNanos(this, left);
          interrupted |= Thread.interrupted();
        } else {
          interrupted |= polling.await(() -> state != State.UNDER_WAY, clock, deadlineNs);
        }
      }
      return state == State.DONE;
    } finally {
      waiter = null;
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
