package io.takofs.base;

/**
 * Source of time, passed in so that a simulation can own it.
 *
 * <p>Thread rule: any thread.
 */
public interface Clock {
  /** Monotonic time in nanoseconds; only differences mean anything. */
  long nanoTime();

  /** Wall-clock time in milliseconds since 1970, for times that people and Hadoop see. */
  long currentTimeMillis();

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
      };
}
