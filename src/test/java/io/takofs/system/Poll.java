package io.takofs.system;

import io.takofs.base.Clock;
import java.time.Duration;
import java.util.concurrent.Callable;

/** Bounded waiting: asks again and again until it holds or the time is over. */
public final class Poll {
  private static final long INTERVAL_NS = Duration.ofMillis(5).toNanos();

  private Poll() {}

  /** Returns once {@code condition} holds; fails with {@code what} after {@code limit}. */
  public static void until(String what, Duration limit, Callable<Boolean> condition)
      throws Exception {
    until(what, limit, INTERVAL_NS, condition);
  }

  /** Asks every {@code intervalNs}, where asking is dear. */
  static void until(String what, Duration limit, long intervalNs, Callable<Boolean> condition)
      throws Exception {
    long start = System.nanoTime();
    while (!condition.call()) {
      if (System.nanoTime() - start > limit.toNanos()) {
        throw new AssertionError("not within " + limit + ": " + what);
      }
      if (Thread.interrupted()) { // it could not wait any more, and would ask without a pause
        throw new InterruptedException("interrupted while waiting: " + what);
      }
      Clock.SYSTEM.pause(Poll.class, intervalNs, () -> false);
    }
  }
}
