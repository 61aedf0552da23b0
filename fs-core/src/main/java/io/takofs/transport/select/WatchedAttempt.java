package io.takofs.transport.select;

import io.takofs.base.Interrupts;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * An attempt to connect that ends when the server it goes to is gone. Over a device such an attempt
 * would otherwise last until its own time is up, while the server that was started again ends the
 * sessions of clients that it does not hear of.
 *
 * <p>Thread rule: the caller's thread watches, a thread of its own makes the attempt; that one has
 * ended when this returns.
 */
final class WatchedAttempt {
  private static final long LOOK_MS = 1000;

  private WatchedAttempt() {}

  /**
   * Makes {@code attempt} and asks once a second whether it has become vain; an interrupt of its
   * thread ends it then, or when the caller is interrupted. An attempt that succeeds at that moment
   * counts.
   *
   * @param endpoint for errors
   * @throws ServerGoneException when it was ended because it had become vain
   * @throws IOException of the attempt
   */
  static <T> T make(String endpoint, Callable<T> attempt, BooleanSupplier isVain)
      throws IOException {
    FutureTask<T> task = new FutureTask<>(attempt);
    Thread thread = new Thread(task, "tako-connect");
    thread.setDaemon(true);
    thread.start();
    while (true) {
      try {
        return task.get(LOOK_MS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (looksVain(isVain)) {
          return end(thread, task, new ServerGoneException(endpoint));
        }
      } catch (InterruptedException e) {
        try {
          return end(thread, task, interrupted(endpoint, e));
        } finally {
          Thread.currentThread().interrupt();
        }
      } catch (ExecutionException e) {
        throw failure(e);
      }
    }
  }

  /** A look that fails for want of a resource ends the attempt as well: nobody watches it. */
  private static boolean looksVain(BooleanSupplier isVain) {
    try {
      return isVain.getAsBoolean();
    } catch (RuntimeException e) {
      return true;
    }
  }

  private static IOException interrupted(String endpoint, InterruptedException cause) {
    InterruptedIOException failure =
        new InterruptedIOException("interrupted while connecting to " + endpoint);
    failure.initCause(cause);
    return failure;
  }

  private static <T> T end(Thread thread, FutureTask<T> task, IOException reason)
      throws IOException {
    thread.interrupt();
    Interrupts.join(thread);
    try (Interrupts interrupts = new Interrupts()) {
      interrupts.putOff();
      return task.get();
    } catch (ExecutionException e) {
      reason.addSuppressed(e.getCause());
      throw reason;
    } catch (InterruptedException e) {
      throw new IllegalStateException("the attempt has ended", e);
    }
  }

  private static IOException failure(ExecutionException failed) throws IOException {
    Throwable cause = failed.getCause();
    if (cause instanceof IOException known) {
      throw known;
    }
    if (cause instanceof RuntimeException known) {
      throw known;
    }
    if (cause instanceof Error known) {
      throw known;
    }
    return new IOException(cause.getMessage(), cause);
  }
}
