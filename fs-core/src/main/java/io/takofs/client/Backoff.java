package io.takofs.client;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Pauses between attempts: each up to twice as long as the one before, jittered so that many
 * clients do not come back together.
 *
 * <p>Thread rule: one thread.
 */
final class Backoff {
  /** Shortest and longest pause, nanoseconds. */
  record Limits(long minNs, long maxNs) {}

  private final Limits limits;
  private long nextNs;

  Backoff(Limits limits) {
    this.limits = limits;
    this.nextNs = limits.minNs;
  }

  /** Pauses; returns false, at once, when the deadline would pass meanwhile or has. */
  boolean sleep(long deadlineNs) {
    long pauseNs = nextNs / 2 + ThreadLocalRandom.current().nextLong(nextNs / 2 + 1);
    nextNs = Math.min(nextNs * 2, Math.max(limits.maxNs, limits.minNs));
    long end = System.nanoTime() + pauseNs;
    if (end - deadlineNs >= 0 || Thread.currentThread().isInterrupted()) {
      return false;
    }
    for (long left = pauseNs; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
      if (Thread.currentThread().isInterrupted()) {
        return false;
      }
    }
    return true;
  }
}
