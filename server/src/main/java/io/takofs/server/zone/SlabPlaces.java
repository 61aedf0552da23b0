package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.proto.LeasedSlab;
import io.takofs.server.extent.SlabRange;
import java.util.List;

/**
 * The slabs of a data zone in order of arena and index, and which of their units extents may use:
 * an arena's first slab begins with its checksums, its last one may be short.
 *
 * <p>Thread rule: immutable, any thread.
 */
final class SlabPlaces {
  private final long[] arenaLengths;

  /** Slot of the first slab of each arena, and one past the last slot at the end. */
  private final int[] firstSlot;

  /**
   * @param arenaLengths bytes of each arena, multiples of UNIT_SIZE
   */
  SlabPlaces(List<Long> arenaLengths) {
    this.arenaLengths = arenaLengths.stream().mapToLong(Long::longValue).toArray();
    this.firstSlot = new int[arenaLengths.size() + 1];
    for (int arena = 0; arena < arenaLengths.size(); arena++) {
      long slabs = (arenaLengths.get(arena) + Layout.SLAB_SIZE - 1) / Layout.SLAB_SIZE;
      firstSlot[arena + 1] = firstSlot[arena] + (int) slabs;
    }
  }

  /** Slabs of all arenas. */
  int count() {
    return firstSlot[arenaLengths.length];
  }

  /** The slot of a slab, from 0; -1 when there is no such slab. */
  int slot(int arena, int index) {
    if (arena < 0 || arena >= arenaLengths.length || index < 0) {
      return -1;
    }
    int slabs = firstSlot[arena + 1] - firstSlot[arena];
    return index < slabs ? firstSlot[arena] + index : -1;
  }

  int arena(int slot) {
    int low = 0;
    int high = arenaLengths.length - 1;
    while (low < high) { // the last arena that begins at the slot or before
      int middle = (low + high + 1) >>> 1;
      if (firstSlot[middle] <= slot) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  int index(int slot) {
    return slot - firstSlot[arena(slot)];
  }

  /** Units of the slab, from its begin, that extents may use: the first. */
  int firstUnit(int slot) {
    return index(slot) == 0 ? checksumUnits(arenaLengths[arena(slot)]) : 0;
  }

  /** Units of the slab, from its begin, that extents may use: the one after the last. */
  int endUnit(int slot) {
    long begin = (long) index(slot) * Layout.SLAB_SIZE;
    long left = (arenaLengths[arena(slot)] - begin) / Layout.UNIT_SIZE;
    return (int) Math.min(SlabRange.SLAB_UNITS, left);
  }

  /** Bytes that extents may use in the slab. */
  long bytes(int slot) {
    return (long) (endUnit(slot) - firstUnit(slot)) * Layout.UNIT_SIZE;
  }

  /** Units at the begin of an arena of {@code length} bytes that hold its checksums. */
  private static int checksumUnits(long length) {
    long bytes = length / Layout.GRANULE_SIZE * Integer.BYTES;
    return (int) ((bytes + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE);
  }

  LeasedSlab describe(int slot, long lease) {
    return LeasedSlab.newBuilder()
        .setArena(arena(slot))
        .setIndex(index(slot))
        .setLease(lease)
        .setFirstUnit(firstUnit(slot))
        .setEndUnit(endUnit(slot))
        .build();
  }
}
