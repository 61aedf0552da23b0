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
   * Lets other threads run, without sleeping, until {@code done} or for {@code nanos} nanoseconds.
   * Where time is not the machine's nobody else runs, and none passes.
   *
   * @return the last of {@code done}
   */
  default boolean yieldUntil(BooleanSupplier done, long nanos) {
    return done.getAsBoolean();
  }

  /** The clock of this machine. */
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public long currentTimeMillis() {
          return System.currentTimeMillis();
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck") // For speed alone: whoever waits sleeps then.
        public boolean yieldUntil(BooleanSupplier done, long nanos) {
          long begin = nanoTime();
          while (!done.getAsBoolean()) {
            if (nanoTime() - begin >= nanos) {
              return false;
            }
            Thread.yield();
          }
          return true;
        }
      };
}
