package io.takofs.client.internal.zone;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.transport.PollingTurn;
import java.util.ArrayList;
import java.util.List;
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

  private final PollingTurn polling;
  private final List<Runnable> afterwards = new ArrayList<>(1);
  private volatile State state = State.UNDER_WAY;
  private volatile Thread waiter;
  private volatile String failure = "";

  /**
   * One that is under way.
   *
   * @param polling by which its end is found out
   */
  Transfer(PollingTurn polling) {
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
  public String failure() {
    return failure;
  }

  /**
   * Waits for the end; one thread only.
   *
   * @return whether all bytes are placed; false when the connection ended
   * @throws TakoException DEADLINE_EXCEEDED; the transfer is still under way
   */
  public boolean await(long deadlineNs) throws TakoException {
    waiter = Thread.currentThread();
    polling.await(() -> state != State.UNDER_WAY, deadlineNs);
    waiter = null;
    if (state == State.UNDER_WAY) {
      throw new TakoException(
          Status.DEADLINE_EXCEEDED, "a transfer of file data did not end in time");
    }
    return state == State.DONE;
  }
}
