package io.takofs.server.zone;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory of a slab table: equal slots, one a slab, of which none lies across two pages. A zone
 * of zeros is a table of free slabs.
 *
 * <p>Thread rule: the lock of {@link SlabTable}.
 */
public final class SlabZone {
  private static final int SLOTS_OF_PAGE = Layout.POOL_ALIGN / Layout.SLAB_SLOT_SIZE;

  private final ByteBuffer[] pages;
  private final Persistence persistence;

  /** Makes stored bytes survive what the memory alone does not. */
  @FunctionalInterface
  public interface Persistence {
    /** Memory that outlives the process by itself (tmpfs, hugetlbfs): nothing to do. */
    Persistence NONE = (slot, offset, length) -> {};

    /** Returns when {@code length} bytes of {@code slot} from {@code offset} are persistent. */
    void persist(int slot, int offset, int length) throws IOException;
  }

  /**
   * @param pages of {@code Layout.POOL_ALIGN} bytes each; the last may be shorter
   */
  public SlabZone(ByteBuffer[] pages, Persistence persistence) {
    this.pages = new ByteBuffer[pages.length];
    for (int i = 0; i < pages.length; i++) {
      Invariant.check(
          pages[i].capacity() == Layout.POOL_ALIGN || i == pages.length - 1, "pages are full");
      this.pages[i] = pages[i].duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
    }
    this.persistence = persistence;
  }

  /** The zone that fills {@code memory}; persistent where the memory can be. */
  public static SlabZone of(MappedMemory memory) {
    ByteBuffer[] pages = new ByteBuffer[Math.toIntExact(memory.length() / Layout.POOL_ALIGN)];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = memory.slice((long) i * Layout.POOL_ALIGN, Layout.POOL_ALIGN);
    }
    return new SlabZone(
        pages,
        memory.isDurable()
            ? (slot, offset, length) -> memory.persist(offsetOf(slot) + offset, length)
            : Persistence.NONE);
  }

  private static long offsetOf(int slot) {
    return (long) (slot / SLOTS_OF_PAGE) * Layout.POOL_ALIGN
        + (long) (slot % SLOTS_OF_PAGE) * Layout.SLAB_SLOT_SIZE;
  }

  int slotCount() {
    int last = pages.length - 1;
    return last < 0 ? 0 : last * SLOTS_OF_PAGE + pages[last].capacity() / Layout.SLAB_SLOT_SIZE;
  }

  /** A view of a slot, little-endian, position 0. */
  ByteBuffer slot(int slot) {
    return pages[slot / SLOTS_OF_PAGE]
        .slice(slot % SLOTS_OF_PAGE * Layout.SLAB_SLOT_SIZE, Layout.SLAB_SLOT_SIZE)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  void persist(int slot, int offset, int length) {
    try {
      persistence.persist(slot, offset, length);
    } catch (IOException e) {
      throw new UncheckedIOException("the slot of slab " + slot + " cannot be made persistent", e);
    }
  }
}
