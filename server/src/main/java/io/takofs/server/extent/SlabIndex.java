package io.takofs.server.extent;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.LongPredicate;

/**
 * Slabs of one kind by the sizes of extents that they have room for.
 *
 * <p>Thread rule: the state machine's thread.
 */
final class SlabIndex {
  /** Slabs with a frame whose largest free buddy is of exactly this order. */
  private final List<TreeSet<SlabUnits>> byOrder = new ArrayList<>();

  private long freeUnits;

  SlabIndex() {
    for (int order = 0; order <= SlabUnits.ORDER_MAX; order++) {
      byOrder.add(new TreeSet<>());
    }
  }

  /** The slab's orders were {@code before} and are {@code after}: bits as {@code orders()} has. */
  void change(SlabUnits slab, int before, int after, int unitsFreed) {
    freeUnits += unitsFreed;
    int changed = before ^ after;
    for (int order = 0; changed != 0; order++, changed >>>= 1) {
      if ((changed & 1) != 0) {
        if ((after >>> order & 1) != 0) {
          byOrder.get(order).add(slab);
        } else {
          byOrder.get(order).remove(slab);
        }
      }
    }
  }

  long freeUnits() {
    return freeUnits;
  }

  /**
   * The slab with the lowest id, of those that are {@code wanted}, with a frame whose largest free
   * buddy is of exactly {@code order}; null for none.
   */
  SlabUnits first(int order, LongPredicate wanted) {
    for (SlabUnits slab : byOrder.get(order)) {
      if (wanted.test(slab.slab())) {
        return slab;
      }
    }
    return null;
  }
}
