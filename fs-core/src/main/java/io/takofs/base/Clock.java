package io.takofs.base;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Source of time, and the way to let it pass, passed in so that a simulation can own both.
 *
 * <p>Thread rule: any thread.
 */
public interface Clock {
  /** Monotonic time in nanoseconds; only differences mean anything. */
  long nanoTime();

  /** Wall-clock time in milliseconds since 1970, for times that people and Hadoop see. */
  long currentTimeMillis();

  /**
   * Waits for {@code nanos} nanoseconds or until this thread is unparked; may return early without
   * any reason, so callers look again.
   *
   * @param blocker who waits, for people who look at threads
   */
  default void parkNanos(Object blocker, long nanos) {
    LockSupport.parkNanos(blocker, nanos);
  }

  /**
   * Waits for {@code nanos} nanoseconds, whatever unparks this thread meanwhile: an answer that
   * came before its caller slept leaves a wake-up behind, so a loop that parks between questions
   * would ask without a pause.
   *
   * @param ended ends the wait, also an interrupt does; who makes it true unparks the thread
   */
  default void pause(Object blocker, long nanos, BooleanSupplier ended) {
    long until = nanoTime() + nanos;
    long left = nanos;
    while (left > 0 && !ended.getAsBoolean() && !Thread.currentThread().isInterrupted()) {
      parkNanos(blocker, left);
      left = until - nanoTime();
    }
  }

  /**
   * Lets other threads run, without sleeping, until {@code done}, at most {@code yields} times, and
   * no more when somebody has kept the processor for long. No other thread runs where time is
   * simulated.
   *
   * @return the last of {@code done}
   */
  default boolean yieldUntil(BooleanSupplier done, int yields) {
    return done.getAsBoolean();
  }

  /** The clock of this machine. */
  Clock SYSTEM =
      new Clock() {
        /** A thread that keeps a processor for so long computes and waits for no other thread. */
        private static final long KEPT_NS = 1_000_000;

        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public long currentTimeMillis() {
          return System.currentTimeMillis();
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck") // For speed alone: the waiter sleeps afterwards.
        public boolean yieldUntil(BooleanSupplier done, int yields) {
          long begin = nanoTime();
          for (int i = 0; i < yields && !done.getAsBoolean(); i++) {
            Thread.yield();
            long now = nanoTime();
            if (now - begin > KEPT_NS) {
              break;
            }
            begin = now;
          }
          return done.getAsBoolean();
        }
      };
}
