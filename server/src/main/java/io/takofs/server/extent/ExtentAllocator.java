package io.takofs.server.extent;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import java.util.BitSet;
import java.util.List;

/**
 * Free units of the data zone. Extents are buddies: 2^k units, k = 0..4, aligned to their size
 * within a frame of EXTENT_SIZE_MAX bytes. The choice depends on nothing but which units are free
 * (the lowest of the tightest fitting frames), so that it is the same on every replay and a fresh
 * zone is handed out in address order.
 *
 * <p>The first units of an arena hold its checksums, 4 bytes a granule, and are never handed out.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class ExtentAllocator {
  private static final int ORDER_MAX = 4;
  private static final int FRAME_UNITS = 1 << ORDER_MAX;
  private static final int ALL_FREE = (1 << FRAME_UNITS) - 1;

  /** First frame of each arena, and one past the last frame at the end. */
  private final int[] firstFrame;

  /** A bit a unit, set when free. */
  private final char[] free;

  /** Frames whose largest free buddy is of exactly this order. */
  private final BitSet[] framesByOrder = new BitSet[ORDER_MAX + 1];

  private final long capacityBytes;
  private long freeBytes;

  /**
   * Begins with everything free.
   *
   * @param arenas bytes of each arena, multiples of UNIT_SIZE up to ARENA_SIZE
   */
  public ExtentAllocator(List<Long> arenas) {
    firstFrame = new int[arenas.size() + 1];
    for (int arena = 0; arena < arenas.size(); arena++) {
      long size = arenas.get(arena);
      if (size <= 0 || size > Layout.ARENA_SIZE || size % Layout.UNIT_SIZE != 0) {
        throw new IllegalArgumentException(
            "arena %d has %d bytes; it must have a multiple of %d up to %d"
                .formatted(arena, size, Layout.UNIT_SIZE, Layout.ARENA_SIZE));
      }
      firstFrame[arena + 1] =
          firstFrame[arena] + (int) ((size + Layout.EXTENT_SIZE_MAX - 1) / Layout.EXTENT_SIZE_MAX);
    }
    free = new char[firstFrame[arenas.size()]];
    for (int order = 0; order <= ORDER_MAX; order++) {
      framesByOrder[order] = new BitSet(free.length);
    }
    for (int arena = 0; arena < arenas.size(); arena++) {
      int units = (int) (arenas.get(arena) / Layout.UNIT_SIZE);
      for (int unit = checksumUnits(arenas.get(arena)); unit < units; unit++) {
        setMask(frameOf(arena, unit), mask(arena, unit, 1), true);
      }
    }
    capacityBytes = freeBytes;
  }

  /** Units at the start of an arena of {@code size} bytes that hold its checksums. */
  static int checksumUnits(long size) {
    long bytes = size / Layout.GRANULE_SIZE * Integer.BYTES;
    return (int) ((bytes + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE);
  }

  /** Bytes that extents can ever have. */
  long capacityBytes() {
    return capacityBytes;
  }

  /** Bytes not handed out. */
  public long freeBytes() {
    return freeBytes;
  }

  /**
   * Takes the largest extent there is of at most {@code bytes} rounded up to a size that extents
   * have, and marks it used.
   *
   * @return its location, or null when nothing is free
   */
  Location allocate(long bytes) {
    long units = (Math.max(bytes, 1) + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE;
    int wanted = units >= FRAME_UNITS ? ORDER_MAX : log2((int) units);
    for (int order = wanted; order >= 0; order--) {
      int frame = tightestFrame(order);
      if (frame >= 0) {
        int unit = Integer.numberOfTrailingZeros(buddies(free[frame], order));
        setMask(frame, run(1 << order) << unit, false);
        return location(frame, unit, 1 << order);
      }
    }
    return null;
  }

  /** Marks an extent used that is known from stored state. */
  public void take(Location extent) {
    change(extent, false);
  }

  /** Gives an extent back. */
  void free(Location extent) {
    change(extent, true);
  }

  /** Whether every unit of {@code extent} is free. */
  boolean isFree(Location extent) {
    int unit = extent.offset() / Layout.UNIT_SIZE;
    int mask = mask(extent.arena(), unit, extent.capacity() / Layout.UNIT_SIZE);
    return (free[frameOf(extent.arena(), unit)] & mask) == mask;
  }

  private void change(Location extent, boolean toFree) {
    int unit = extent.offset() / Layout.UNIT_SIZE;
    int mask = mask(extent.arena(), unit, extent.capacity() / Layout.UNIT_SIZE);
    int frame = frameOf(extent.arena(), unit);
    Invariant.check(
        (free[frame] & mask) == (toFree ? 0 : mask),
        () -> (toFree ? "freed twice: " : "taken twice: ") + extent);
    setMask(frame, mask, toFree);
  }

  private void setMask(int frame, int mask, boolean toFree) {
    int before = free[frame];
    int after = toFree ? before | mask : before & ~mask;
    free[frame] = (char) after;
    freeBytes += (long) (Integer.bitCount(after) - Integer.bitCount(before)) * Layout.UNIT_SIZE;
    int oldOrder = largestOrder(before);
    int newOrder = largestOrder(after);
    if (oldOrder != newOrder) {
      if (oldOrder >= 0) {
        framesByOrder[oldOrder].clear(frame);
      }
      if (newOrder >= 0) {
        framesByOrder[newOrder].set(frame);
      }
    }
  }

  private int tightestFrame(int order) {
    for (int larger = order; larger <= ORDER_MAX; larger++) {
      int frame = framesByOrder[larger].nextSetBit(0);
      if (frame >= 0) {
        return frame;
      }
    }
    return -1;
  }

  private Location location(int frame, int unit, int units) {
    int arena = 0;
    int last = firstFrame.length - 2;
    while (arena < last) {
      int middle = (arena + last + 1) >>> 1;
      if (firstFrame[middle] <= frame) {
        arena = middle;
      } else {
        last = middle - 1;
      }
    }
    int offset = ((frame - firstFrame[arena]) * FRAME_UNITS + unit) * Layout.UNIT_SIZE;
    return new Location(arena, offset, units * Layout.UNIT_SIZE);
  }

  private int frameOf(int arena, int unit) {
    return firstFrame[arena] + unit / FRAME_UNITS;
  }

  private int mask(int arena, int unit, int units) {
    Invariant.check(
        unit % FRAME_UNITS + units <= FRAME_UNITS && frameOf(arena, unit) < firstFrame[arena + 1],
        () -> "no extent: arena %d unit %d, %d units".formatted(arena, unit, units));
    return run(units) << unit % FRAME_UNITS;
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

  private static int log2(int units) {
    return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(units);
  }
}
