package io.takofs.client;

import java.util.TreeSet;

/**
 * Numbers of the calls of one session, and which of them are not over.
 *
 * <p>Thread rule: any thread.
 */
final class CallNumbers {
  private final TreeSet<Long> open = new TreeSet<>();
  private long last;

  /** A new number, from 1, open until {@link #end}. */
  synchronized long begin() {
    last++;
    open.add(last);
    return last;
  }

  /** The call has its outcome, or was given up: it is never sent again. */
  synchronized void end(long sequence) {
    open.remove(sequence);
  }

  /** The lowest number that is open: the outcomes of all below it are known. */
  synchronized long acknowledgedBelow() {
    return open.isEmpty() ? last + 1 : open.first();
  }
}
