package io.takofs.sim;

import io.takofs.base.Clock;

/** The clock of the virtual time. */
public final class SimClock implements Clock {
  /** 2026-01-01T00:00:00Z: where virtual wall clocks begin. */
  private static final long BEGIN_MS = 1_767_225_600_000L;

  private final SimScheduler scheduler;

  public SimClock(SimScheduler scheduler) {
    this.scheduler = scheduler;
  }

  @Override
  public long nanoTime() {
    return scheduler.nowNs();
  }

  @Override
  public long currentTimeMillis() {
    return BEGIN_MS + scheduler.nowNs() / 1_000_000;
  }
}
