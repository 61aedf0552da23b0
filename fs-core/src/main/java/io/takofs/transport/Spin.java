package io.takofs.transport;

import io.takofs.layout.Layout;

/**
 * How long a thread waits awake for news before it sleeps: as long as that has been worth it
 * lately, as {@code native/src/spin.h} does it for those who wait in native code.
 *
 * <p>Thread rule: one thread.
 */
public final class Spin {
  /** A call over loopback takes less, even with waking a thread, and so does a large listing. */
  public static final int CEILING_NS = 250_000;

  /** Always tried. */
  public static final int FLOOR_NS = CEILING_NS / Layout.SPIN_FLOOR_PART;

  private int budgetNs = CEILING_NS;
  private int misses;

  /** Nanoseconds to wait awake now. */
  public int begin() {
    return misses >= Layout.SPIN_MISSES_MAX ? CEILING_NS : Math.max(budgetNs, FLOOR_NS);
  }

  /**
   * Whether to let others run between two looks in a wait of {@code nanos}: not if waits have been
   * in vain lately, because others may keep the processor that a sleeper would get back.
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
