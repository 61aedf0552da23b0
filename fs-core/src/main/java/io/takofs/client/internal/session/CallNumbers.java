package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Numbers of the calls of one session, and which of them are not over.
 *
 * <p>Thread rule: any thread.
 */
public final class CallNumbers {
  /**
   * Limit to which numbers run ahead of the oldest open call, whose thread may not have run for a
   * while. A server keeps 256 results a client: this many before a call and as many after it fit.
   */
  public static final int WINDOW = 100;

  /**
   * Number of calls that the server records no result of, because doing them twice is harmless:
   * those that open, resume and end a session. They are no part of the window and wait for nobody.
   */
  static final long UNRECORDED = 1;

  private final Clock clock;
  private final TreeSet<Long> open = new TreeSet<>();
  private final AtomicLong queries = new AtomicLong();
  private long last;

  CallNumbers(Clock clock) {
    this.clock = clock;
  }

  /**
   * A new number, from 1, open until {@link #end}. Waits while the oldest open call is too old.
   *
   * @throws TakoException DEADLINE_EXCEEDED
   */
  synchronized long begin(long deadlineNs) throws TakoException {
    if (isWindowFull() && !Interrupts.await(clock, deadlineNs, this::awaitWindow)) {
      throw new TakoException(
          Status.DEADLINE_EXCEEDED,
          "an earlier call has no answer yet, and " + WINDOW + " were begun since");
    }
    last++;
    open.add(last);
    return last;
  }

  private boolean isWindowFull() {
    return !open.isEmpty() && last + 1 - open.first() >= WINDOW;
  }

  private synchronized boolean awaitWindow(long nanos) throws InterruptedException {
    long end = clock.nanoTime() + nanos;
    while (isWindowFull()) {
      long left = end - clock.nanoTime();
      if (left <= 0) {
        return false;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return true;
  }

  /**
   * A number for a call that changes nothing, never given twice: the server records no result of
   * it, and its reply names it. It is no part of the window and need not be ended.
   */
  long ofQuery() {
    return Long.MIN_VALUE | queries.incrementAndGet();
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
