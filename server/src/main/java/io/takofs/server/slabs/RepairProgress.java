package io.takofs.server.slabs;

import io.takofs.base.Clock;
import java.util.concurrent.TimeUnit;

/**
 * The amount of repair since the leader started, and its rate.
 *
 * <p>Thread rule: the owner of the group.
 */
final class RepairProgress {
  /** Seconds over which the rate is taken. */
  private static final int SECONDS = 10;

  private final Clock clock;
  private final long[] bytesOfSecond = new long[SECONDS];
  private final long[] second = new long[SECONDS];
  private long bytes;
  private long slabs;

  RepairProgress(Clock clock) {
    this.clock = clock;
  }

  private long now() {
    return TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime());
  }

  void copied(long count) {
    long now = now();
    int at = (int) Math.floorMod(now, (long) SECONDS);
    if (second[at] != now) {
      second[at] = now;
      bytesOfSecond[at] = 0;
    }
    bytesOfSecond[at] += count;
    bytes += count;
  }

  void done() {
    slabs++;
  }

  long bytes() {
    return bytes;
  }

  long slabs() {
    return slabs;
  }

  /** Bytes a second, in the last 10 s. */
  long bytesPerSecond() {
    long now = now();
    long sum = 0;
    for (int i = 0; i < SECONDS; i++) {
      if (now - second[i] < SECONDS) {
        sum += bytesOfSecond[i];
      }
    }
    return sum / SECONDS;
  }
}
