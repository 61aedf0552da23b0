package io.takofs.server;

import io.takofs.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Time that passes when a test says so. */
final class ManualClock implements Clock {
  private final AtomicLong now = new AtomicLong(TimeUnit.DAYS.toNanos(20_000));

  @Override
  public long nanoTime() {
    return now.get();
  }

  @Override
  public long currentTimeMillis() {
    return TimeUnit.NANOSECONDS.toMillis(now.get());
  }

  void advanceMillis(long millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
