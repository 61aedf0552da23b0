package io.takofs.server;

import io.takofs.base.Clock;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A clock whose wall-clock time never runs backwards, so that what came later never bears an
 * earlier time: when the clock of the machine is set back it goes on at half the speed until that
 * has caught up. It does not stand still, because whatever waits for a time would wait as long.
 *
 * <p>Thread rule: any thread.
 */
final class SteadyClock implements Clock {
  /** Parts of the time that passes, one of which this clock advances while it is ahead. */
  private static final int SLOWER = 2;

  private static final Logger LOG = LoggerFactory.getLogger(SteadyClock.class);

  private static final long NOTABLE_MS = 1000;

  private final Clock clock;
  private long latestMs = Long.MIN_VALUE;
  private boolean ahead;
  private long aheadSinceNs;
  private long aheadFromMs;

  SteadyClock(Clock clock) {
    this.clock = clock;
  }

  /** Lets no later time be before {@code ms}, which an earlier leader gave an entry. */
  synchronized void continueFrom(long ms) {
    long now = currentTimeMillis();
    if (ms > now) {
      if (ms - now > NOTABLE_MS) { // clocks of servers differ a little
        LOG.warn(
            "the last entry of the log is {} ms later than this machine's clock says: time goes on"
                + " from there at half the speed until the clock has caught up; set the clock right",
            ms - now);
      }
      latestMs = ms;
      ahead = false;
    }
  }

  @Override
  public long nanoTime() {
    return clock.nanoTime();
  }

  @Override
  public synchronized long currentTimeMillis() {
    long machineMs = clock.currentTimeMillis();
    if (ahead || machineMs < latestMs) {
      latestMs = Math.max(machineMs, slowerMs());
      ahead = latestMs > machineMs;
    } else {
      latestMs = machineMs;
    }
    return latestMs;
  }

  private long slowerMs() {
    long nowNs = clock.nanoTime();
    if (!ahead) {
      aheadSinceNs = nowNs;
      aheadFromMs = latestMs;
    }
    return aheadFromMs + TimeUnit.NANOSECONDS.toMillis(nowNs - aheadSinceNs) / SLOWER;
  }

  @Override
  public void parkNanos(Object blocker, long nanos) {
    clock.parkNanos(blocker, nanos);
  }
}
