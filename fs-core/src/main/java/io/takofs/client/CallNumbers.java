package io.takofs.client;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Numbers of the calls of one session, and which of them are not over.
 *
 * <p>Thread rule: any thread.
 */
final class CallNumbers {
  /**
   * How far numbers run ahead of the oldest open call, whose thread may not have run for a while. A
   * server keeps 256 results a client: this many before a call and as many behind it fit.
   */
  static final int WINDOW = 100;

  /**
   * Number of calls that the server records no result of, because doing them twice is harmless:
   * those that open, resume and end a session. They are no part of the window and wait for nobody.
   */
  static final long UNRECORDED = 1;

  private final Clock clock;
  private final TreeSet<Long> open = new TreeSet<>();
  private long last;

  CallNumbers(Clock clock) {
    this.clock = clock;
  }

  /**
   * A new number, from 1, open until {@link #end}. Waits while the oldest open call is too far
   * behind.
   *
   * @throws TakoException DEADLINE_EXCEEDED
   */
  synchronized long begin(long deadlineNs) throws TakoException {
    boolean interrupted = false;
    try {
      while (!open.isEmpty() && last + 1 - open.first() >= WINDOW) {
        long left = deadlineNs - clock.nanoTime();
        if (left <= 0) {
          throw new TakoException(
              Status.DEADLINE_EXCEEDED,
              "an earlier call has no answer yet, and " + WINDOW + " were begun since");
        }
        try {
          // Rounded up: a wait of no time would be one without an end.
          wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    last++;
    open.add(last);
    return last;
  }

  /** The call has its outcome, or was given up: it is never sent again. */
  synchronized void end(long sequence) {
    open.remove(sequence);
    notifyAll();
  }

  /** The lowest number that is open: the outcomes of all below it are known. */
  synchronized long acknowledgedBelow() {
    return open.isEmpty() ? last + 1 : open.first();
  }
}
