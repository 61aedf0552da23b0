package io.takofs.server;

import io.takofs.base.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Time that passes when a test says so, or when somebody waits by it. */
public final class ManualClock implements Clock {
  private final AtomicLong now;
  private final AtomicLong wallAheadMs = new AtomicLong();

  public ManualClock() {
    this(TimeUnit.DAYS.toMillis(20_000));
  }

  /** A clock that begins at {@code startMs} after 1970. */
  public ManualClock(long startMs) {
    now = new AtomicLong(TimeUnit.MILLISECONDS.toNanos(startMs));
  }

  @Override
  public long nanoTime() {
    return now.get();
  }

  @Override
  public long currentTimeMillis() {
    return TimeUnit.NANOSECONDS.toMillis(now.get()) + wallAheadMs.get();
  }

  @Override
  public void parkNanos(Object blocker, long nanos) {
    now.addAndGet(nanos);
  }

  public void advance(Duration time) {
    now.addAndGet(time.toNanos());
  }

  public void advanceMillis(long millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Sets the wall clock by {@code millis} forward; back when that is negative. */
  void setWall(long millis) {
    wallAheadMs.addAndGet(millis);
  }
}
