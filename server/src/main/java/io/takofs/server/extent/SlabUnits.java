package io.takofs.server.extent;

import io.takofs.base.Invariant;

/**
 * The free units of one slab. Extents are buddies: 2^k units, k = 0..4, aligned to their size
 * within a frame of EXTENT_SIZE_MAX bytes.
 *
 * <p>Thread rule: the state machine's thread.
 */
final class SlabUnits implements Comparable<SlabUnits> {
  static final int ORDER_MAX = 4;
  private static final int FRAME_UNITS = 1 << ORDER_MAX;
  private static final int ALL_FREE = (1 << FRAME_UNITS) - 1;

  private final long slab;

  /** A bit a unit, set when free. */
  private final char[] free = new char[SlabRange.SLAB_UNITS / FRAME_UNITS];

  /** Frames whose largest free buddy is of exactly this order. */
  private final int[] framesByOrder = new int[ORDER_MAX + 1];

  private final int first;
  private final int units;
  private int freeUnits;

  /** Units from {@code first} to {@code end}, all free. */
  SlabUnits(long slab, int first, int end) {
    this.slab = slab;
    this.first = first;
    this.units = end - first;
    for (int unit = first; unit < end; unit++) {
      setMask(unit / FRAME_UNITS, 1 << unit % FRAME_UNITS, true);
    }
  }

  long slab() {
    return slab;
  }

  int units() {
    return units;
  }

  int freeUnits() {
    return freeUnits;
  }

  boolean isWhollyFree() {
    return freeUnits == units;
  }

  /** Bit k is set when there is a frame whose largest free buddy is of order k. */
  int orders() {
    int orders = 0;
    for (int order = 0; order <= ORDER_MAX; order++) {
      orders |= framesByOrder[order] > 0 ? 1 << order : 0;
    }
    return orders;
  }

  /**
   * Takes the lowest buddy of {@code order} in the lowest frame whose largest free one is of order
   * {@code largest}; there is one.
   */
  SlabRange allocate(int order, int largest) {
    for (int frame = 0; ; frame++) {
      if (largestOrder(free[frame]) == largest) {
        int unit = Integer.numberOfTrailingZeros(buddies(free[frame], order));
        setMask(frame, run(1 << order) << unit, false);
        return SlabRange.ofUnits(slab, frame * FRAME_UNITS + unit, 1 << order);
      }
    }
  }

  /** Marks an extent used that is known from stored state. */
  void take(SlabRange extent) {
    change(extent, false);
  }

  /** Gives an extent back. */
  void free(SlabRange extent) {
    change(extent, true);
  }

  private boolean isFree(int unit) {
    return (free[unit / FRAME_UNITS] >>> unit % FRAME_UNITS & 1) != 0;
  }

  /** Units that extents may have, a bit each, set when it is not free. */
  byte[] used() {
    byte[] used = new byte[SlabRange.SLAB_UNITS / Byte.SIZE];
    for (int unit = first; unit < first + units; unit++) {
      if (!isFree(unit)) {
        used[unit / Byte.SIZE] |= (byte) (1 << unit % Byte.SIZE);
      }
    }
    return used;
  }

  /** Takes what {@link #used} said, of units that are free. */
  void restore(byte[] used) {
    for (int unit = first; unit < first + units; unit++) {
      if ((used[unit / Byte.SIZE] >>> unit % Byte.SIZE & 1) != 0) {
        setMask(unit / FRAME_UNITS, 1 << unit % FRAME_UNITS, false);
      }
    }
  }

  private void change(SlabRange extent, boolean toFree) {
    int unit = extent.unit();
    int first = unit % FRAME_UNITS;
    Invariant.check(
        unit >= 0 && unit < SlabRange.SLAB_UNITS && first + extent.units() <= FRAME_UNITS,
        () -> "no extent: " + extent);
    int mask = run(extent.units()) << first;
    int frame = unit / FRAME_UNITS;
    Invariant.check(
        (free[frame] & mask) == (toFree ? 0 : mask),
        () -> (toFree ? "freed twice: " : "taken twice: ") + extent);
    setMask(frame, mask, toFree);
  }

  private void setMask(int frame, int mask, boolean toFree) {
    int before = free[frame];
    int after = toFree ? before | mask : before & ~mask;
    free[frame] = (char) after;
    freeUnits += Integer.bitCount(after) - Integer.bitCount(before);
    int oldOrder = largestOrder(before);
    int newOrder = largestOrder(after);
    if (oldOrder != newOrder) {
      if (oldOrder >= 0) {
        framesByOrder[oldOrder]--;
      }
      if (newOrder >= 0) {
        framesByOrder[newOrder]++;
      }
    }
  }

  private static int run(int units) {
    return (1 << units) - 1;
  }

  /** Bit u is set when units u .. u + 2^order are free and u is a multiple of 2^order. */
  private static int buddies(int mask, int order) {
    int starts = mask;
    if (order >= 1) {
      starts &= starts >>> 1 & 0x5555;
    }
    if (order >= 2) {
      starts &= starts >>> 2 & 0x1111;
    }
    if (order >= 3) {
      starts &= starts >>> 4 & 0x0101;
    }
    if (order >= 4) {
      starts &= starts >>> 8 & 0x0001;
    }
    return starts;
  }

  private static int largestOrder(int mask) {
    if (mask == ALL_FREE) {
      return ORDER_MAX;
    }
    int order = ORDER_MAX - 1;
    while (order >= 0 && buddies(mask, order) == 0) {
      order--;
    }
    return order;
  }

  @Override
  public int compareTo(SlabUnits other) {
    return Long.compareUnsigned(slab, other.slab);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SlabUnits units && units.slab == slab;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(slab);
  }
}
