package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Runs a test's work on another thread and waits for it. */
final class Background {
  private Background() {}

  /** Something a client is asked to do. */
  interface Work {
    void run() throws IOException;
  }

  static CompletableFuture<Void> run(Work work) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Runnable guarded =
        () -> {
          try {
            work.run();
            done.complete(null);
          } catch (IOException | RuntimeException e) {
            done.completeExceptionally(e);
          }
        };
    daemon(guarded).start();
    return done;
  }

  /** A thread that ends with the JVM at the latest; not started yet. */
  static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  /** Returns once {@code condition} holds; fails after 20 s. */
  static void awaitUntil(BooleanSupplier condition) {
    long giveUp = System.nanoTime() + 20_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - giveUp).describedAs("still not so").isLessThan(0);
      LockSupport.parkNanos(1_000_000);
    }
  }
}
