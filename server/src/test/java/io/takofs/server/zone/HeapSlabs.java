package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.List;

/** Slab tables that end with the process. */
public final class HeapSlabs {
  private HeapSlabs() {}

  /** A table of free slabs of arenas of these lengths. */
  public static SlabTable table(List<Long> arenaLengths) {
    try {
      return SlabTable.open(zone(new SlabPlaces(arenaLengths).count()), arenaLengths);
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  /** Zeroed memory for at least {@code slabs} slabs. */
  static ByteBuffer[] memory(int slabs) {
    int slotsOfPage = Layout.POOL_ALIGN / Layout.SLAB_SLOT_SIZE;
    ByteBuffer[] pages = new ByteBuffer[(slabs + slotsOfPage - 1) / slotsOfPage];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = ByteBuffer.allocate(Layout.POOL_ALIGN);
    }
    return pages;
  }

  private static SlabZone zone(int slabs) {
    return new SlabZone(memory(slabs), SlabZone.Persistence.NONE);
  }
}
