package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HousekeepingThreadTest {
  private static final long LONG_NS = TimeUnit.HOURS.toNanos(1);

  private final CountDownLatch inFirst = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final CountDownLatch second = new CountDownLatch(2);

  private DataServer.Tick tick() {
    second.countDown();
    inFirst.countDown();
    try {
      mayEnd.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return new DataServer.Tick(LONG_NS, null);
  }

  /** As an answer of another server that comes while a tick decides how long to sleep. */
  @Test
  void shouldTickAgainWhenWorkCameWhileItTicked() throws Exception {
    try (HousekeepingThread thread = HousekeepingThread.start(this::tick, () -> null)) {
      inFirst.await();
      thread.wake();
      mayEnd.countDown();
      second.await();
    }
  }

  @Test
  void shouldSleepAfterATickThatAskedForOneItself() throws Exception {
    AtomicReference<HousekeepingThread> made = new AtomicReference<>();
    CountDownLatch isMade = new CountDownLatch(1);
    AtomicInteger wakes = new AtomicInteger();
    try (HousekeepingThread thread =
        HousekeepingThread.start(
            () -> {
              try {
                isMade.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              made.get().wake();
              wakes.incrementAndGet();
              return new DataServer.Tick(LONG_NS, null);
            },
            () -> null)) {
      made.set(thread);
      isMade.countDown();
      TestServer.await(() -> wakes.get() == 1);
      thread.wake(); // it sleeps, or is about to
      TestServer.await(() -> wakes.get() == 2);
    }
    assertThat(wakes.get()).isEqualTo(2);
  }
}
