package io.takofs.client.internal.session;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Lets reads that take much longer than usual be asked of another server, too, and counts them: one
 * of 16 reads at most, and some more at the start, so that servers that are all slow do not get
 * twice the work.
 *
 * <p>Thread rule: any thread.
 */
public final class HedgedReads {
  private static final int EACH = 16;
  private static final int MORE = 16;

  private final long leastNs;
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong hedged = new AtomicLong();

  /**
   * @param leastNs that a read takes before another server is asked; 0 for never
   */
  public HedgedReads(long leastNs) {
    this.leastNs = leastNs;
  }

  /** A read begins that another server could serve; whether it may be asked of that, too. */
  public boolean begin() {
    return leastNs > 0 && reads.incrementAndGet() / EACH + MORE > hedged.get();
  }

  /** Nanoseconds that a read takes at least before another server is asked. */
  public long leastNs() {
    return leastNs;
  }

  /** A read was asked of another server, too. */
  public void hedge() {
    hedged.incrementAndGet();
  }

  /** Reads that were asked of another server, too. */
  public long count() {
    return hedged.get();
  }
}
