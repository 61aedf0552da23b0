package io.takofs.server;

import io.takofs.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Time that passes when a test says so. */
final class ManualClock implements Clock {
  private final AtomicLong now = new AtomicLong(TimeUnit.DAYS.toNanos(20_000));
  private final AtomicLong wallAheadMs = new AtomicLong();

  @Override
  public long nanoTime() {
    return now.get();
  }

  @Override
  public long currentTimeMillis() {
    return TimeUnit.NANOSECONDS.toMillis(now.get()) + wallAheadMs.get();
  }

  void advanceMillis(long millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Sets the wall clock by {@code millis} forward; back when that is negative. */
  void setWall(long millis) {
    wallAheadMs.addAndGet(millis);
  }
}
