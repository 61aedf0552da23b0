package io.takofs.server;

import io.takofs.base.Clock;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock whose wall-clock time stands still when that of the machine is set back, so that what
 * came later never bears an earlier time.
 *
 * <p>Thread rule: any thread.
 */
final class SteadyClock implements Clock {
  private final Clock clock;
  private final AtomicLong latestMs = new AtomicLong(Long.MIN_VALUE);

  SteadyClock(Clock clock) {
    this.clock = clock;
  }

  @Override
  public long nanoTime() {
    return clock.nanoTime();
  }

  @Override
  public long currentTimeMillis() {
    return latestMs.accumulateAndGet(clock.currentTimeMillis(), Math::max);
  }

  @Override
  public void parkNanos(Object blocker, long nanos) {
    clock.parkNanos(blocker, nanos);
  }
}
