package io.takofs.sim;

import io.takofs.base.Clock;
import java.util.Random;

/** The clock of one process; who parks lets the simulation run. */
public final class SimClock implements Clock {
  /** 2026-01-01T00:00:00Z: where virtual wall clocks begin. */
  private static final long BEGIN_MS = 1_767_225_600_000L;

  private static final long UPTIME_MAX_NS = 1L << 55; // more than a year
  private static final int WALL_OFFSET_MAX_MS = 60_000;
  private static final double RATE_ERROR_MAX = 0.01;

  private final SimScheduler scheduler;
  private final SimProcess process;
  private final long beginNs;
  private final double rate;
  private long wallOffsetMs;

  /** A clock that is right. */
  public SimClock(SimScheduler scheduler, SimProcess process) {
    this(scheduler, process, 0, 1, 0);
  }

  private SimClock(
      SimScheduler scheduler, SimProcess process, long beginNs, double rate, long wallOffsetMs) {
    this.scheduler = scheduler;
    this.process = process;
    this.beginNs = beginNs;
    this.rate = rate;
    this.wallOffsetMs = wallOffsetMs;
  }

  /**
   * A clock that began anywhere, is a little too fast or too slow, and shows another time of day.
   */
  public static SimClock wrong(SimScheduler scheduler, SimProcess process) {
    Random random = scheduler.random();
    return new SimClock(
        scheduler,
        process,
        (long) (random.nextDouble() * UPTIME_MAX_NS),
        1 + (2 * random.nextDouble() - 1) * RATE_ERROR_MAX,
        random.nextInt(2 * WALL_OFFSET_MAX_MS) - WALL_OFFSET_MAX_MS);
  }

  /** Somebody sets the time of day; the monotonic time goes on. */
  void jump(long millis) {
    wallOffsetMs += millis;
  }

  @Override
  public long nanoTime() {
    return beginNs + (long) (scheduler.nowNs() * rate);
  }

  @Override
  public long currentTimeMillis() {
    return BEGIN_MS + wallOffsetMs + scheduler.nowNs() / 1_000_000;
  }

  @Override
  public void parkNanos(Object blocker, long nanos) {
    scheduler.step((long) Math.ceil(nanos / rate));
    process.goOn(scheduler);
  }
}
