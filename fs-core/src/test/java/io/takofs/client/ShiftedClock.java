package io.takofs.client;

import io.takofs.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The machine's time, and what a test adds to it.
 *
 * <p>Thread rule: any thread.
 */
final class ShiftedClock implements Clock {
  private final AtomicLong shiftNs = new AtomicLong();

  /** Lets so much time pass, in which nobody does anything. */
  void pass(long ms) {
    shiftNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
  }

  @Override
  public long nanoTime() {
    return SYSTEM.nanoTime() + shiftNs.get();
  }

  @Override
  public long currentTimeMillis() {
    return SYSTEM.currentTimeMillis() + TimeUnit.NANOSECONDS.toMillis(shiftNs.get());
  }
}
