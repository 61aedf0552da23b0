package io.takofs.client;

import java.util.TreeSet;

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

  private final TreeSet<Long> open = new TreeSet<>();
  private long last;

  /**
   * A new number, from 1, open until {@link #end}. Waits while the oldest open call is too far
   * behind; that call ends by its deadline.
   */
  synchronized long begin() {
    boolean interrupted = false;
    while (!open.isEmpty() && last + 1 - open.first() >= WINDOW) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
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
