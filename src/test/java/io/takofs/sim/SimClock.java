package io.takofs.sim;

import io.takofs.base.Clock;

/** The clock of one process; who parks lets the simulation run. */
public final class SimClock implements Clock {
  /** 2026-01-01T00:00:00Z: where virtual wall clocks begin. */
  private static final long BEGIN_MS = 1_767_225_600_000L;

  private final SimScheduler scheduler;
  private final SimProcess process;

  public SimClock(SimScheduler scheduler, SimProcess process) {
    this.scheduler = scheduler;
    this.process = process;
  }

  @Override
  public long nanoTime() {
    return scheduler.nowNs();
  }

  @Override
  public long currentTimeMillis() {
    return BEGIN_MS + scheduler.nowNs() / 1_000_000;
  }

  @Override
  public void parkNanos(Object blocker, long nanos) {
    scheduler.step(nanos);
    process.checkAlive();
  }
}
