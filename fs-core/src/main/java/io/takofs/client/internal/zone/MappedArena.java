package io.takofs.client.internal.zone;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.Stores;
import java.nio.ByteBuffer;
import java.util.BitSet;

/**
 * An arena that is mapped here, and which of its units were made present, to be stored to without
 * faults: not all at once, because most processes write a small part of it. Loads need no such care
 * on tmpfs: the kernel maps what is around a page that is touched.
 *
 * <p>Thread rule: any thread.
 */
final class MappedArena {
  private final ByteBuffer bytes;
  private final BitSet present = new BitSet();

  /**
   * @param bytes all of it, little-endian
   */
  MappedArena(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  /** All of it, little-endian, for absolute access. */
  ByteBuffer bytes() {
    return bytes;
  }

  /**
   * Makes the bytes at {@code place} present.
   *
   * @throws TakoException when that cannot be, though the server made the file whole
   */
  void makePresent(Place place) throws TakoException {
    int first = place.offset() / Layout.UNIT_SIZE;
    int end = (place.offset() + place.capacity() - 1) / Layout.UNIT_SIZE + 1;
    synchronized (present) {
      if (present.nextClearBit(first) >= end) {
        return;
      }
    }
    Stores.prepare(bytes, place.offset(), place.capacity());
    synchronized (present) {
      present.set(first, end);
    }
  }
}
