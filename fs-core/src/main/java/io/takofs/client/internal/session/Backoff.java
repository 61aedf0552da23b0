package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.Interrupts;

/**
 * Pauses between attempts: each up to twice as long as the one before, jittered so that many
 * clients do not come back together.
 *
 * <p>Thread rule: one thread.
 */
final class Backoff {
  /** Shortest and longest pause, nanoseconds. */
  record Limits(long minNs, long maxNs) {
    /** These, and no pause above {@code limitNs}. */
    Limits atMost(long limitNs) {
      return new Limits(Math.min(minNs, limitNs), Math.min(maxNs, limitNs));
    }
  }

  private final Limits limits;
  private final Clock clock;
  private long nextNs;

  Backoff(Limits limits, Clock clock) {
    this.limits = limits;
    this.clock = clock;
    this.nextNs = limits.minNs;
  }

  /**
   * Pauses; returns false, at once, when the deadline would pass meanwhile or has. Interrupts are
   * put off.
   */
  boolean sleep(long deadlineNs) {
    long pauseNs = nextNs / 2 + jitterNs(nextNs / 2 + 1);
    nextNs = Math.min(nextNs * 2, Math.max(limits.maxNs, limits.minNs));
    long end = clock.nanoTime() + pauseNs;
    if (end - deadlineNs >= 0) {
      return false;
    }
    try (Interrupts interrupts = new Interrupts()) {
      for (long left = pauseNs; left > 0; left = end - clock.nanoTime()) {
        interrupts.putOff();
        clock.parkNanos(this, left);
      }
    }
    return true;
  }

  /** Less than {@code bound}; from the clock, so that a simulation repeats it. */
  private long jitterNs(long bound) {
    return Math.floorMod((clock.nanoTime() * 0x9E3779B97F4A7C15L) >>> 1, bound);
  }
}
