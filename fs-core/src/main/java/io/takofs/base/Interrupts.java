package io.takofs.base;

/**
 * Defers interrupts: operations that run meanwhile end with their outcome or at their deadline, and
 * the caller finds itself interrupted afterwards. Failing early instead would leave the outcome
 * unknown.
 *
 * <p>Thread rule: made, used and closed by one thread.
 */
public final class Interrupts implements AutoCloseable {
  /** Waits so many nanoseconds at most; returns whether what was waited for came. */
  public interface TimedWait {
    boolean await(long nanos) throws InterruptedException;
  }

  private boolean interrupted;

  /** Ends the interruption of this thread, if it is interrupted, until this is closed. */
  public void putOff() {
    interrupted |= Thread.interrupted();
  }

  /** Waits until the deadline, nanoseconds of {@code clock}, whoever interrupts. */
  public static boolean await(Clock clock, long deadlineNs, TimedWait wait) {
    try (Interrupts interrupts = new Interrupts()) {
      while (true) {
        try {
          return wait.await(deadlineNs - clock.nanoTime());
        } catch (InterruptedException e) {
          interrupts.interrupted = true;
        }
      }
    }
  }

  /** Waits until {@code thread} has ended, whoever interrupts. */
  public static void join(Thread thread) {
    try (Interrupts interrupts = new Interrupts()) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupts.interrupted = true;
        }
      }
    }
  }

  @Override
  public void close() {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
