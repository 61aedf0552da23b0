package io.takofs.transport;

import io.takofs.layout.Layout;

/**
 * Adaptive spinning: the time that a thread polls before it sleeps follows recent hits. {@code
 * native/src/spin.h} does the same for waits in native code.
 *
 * <p>Thread rule: one thread.
 */
public final class Spin {
  /**
   * Longest spin: a call over loopback takes less, even with waking a thread; so does a listing.
   */
  public static final int CEILING_NS = 250_000;

  /** Shortest spin, which is always tried. */
  public static final int FLOOR_NS = CEILING_NS / Layout.SPIN_FLOOR_PART;

  private int budgetNs = CEILING_NS;
  private int misses;

  /** Nanoseconds to spin now. */
  public int begin() {
    return misses >= Layout.SPIN_MISSES_MAX ? CEILING_NS : Math.max(budgetNs, FLOOR_NS);
  }

  /**
   * Whether to yield between two polls of a spin of {@code nanos}: not if recent spins were misses,
   * because another runnable thread may hold the CPU for a whole time slice; a woken sleeper
   * preempts it.
   */
  public static boolean mayYield(int nanos) {
    return nanos > FLOOR_NS;
  }

  /** Learns from a wait of {@code nanos}, as {@link #begin} said, whether news came within it. */
  public void end(int nanos, boolean found) {
    if (found) {
      budgetNs = Math.min(CEILING_NS, 2 * nanos);
      misses = 0;
    } else {
      budgetNs /= 2;
      misses = misses >= Layout.SPIN_MISSES_MAX ? 0 : misses + 1;
    }
  }
}
