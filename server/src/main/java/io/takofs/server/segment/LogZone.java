package io.takofs.server.segment;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.Zeros;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory of a log: equal slots, each of which holds one segment. A zone of zeros is an empty
 * log.
 *
 * <p>Thread rule: one thread at a time, that which has the log.
 */
public final class LogZone {
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 16);

  private final ByteBuffer[] slots;
  private final int segmentSize;
  private final Persistence persistence;

  /**
   * @param slots direct buffers of one size, a multiple of 8 bytes, 8-byte aligned; at least two,
   *     so that a full one can be left before it is freed
   */
  public LogZone(ByteBuffer[] slots, Persistence persistence) {
    Invariant.check(slots.length >= 2, "a log zone has at least two segments");
    this.segmentSize = slots[0].capacity();
    Invariant.check(segmentSize % Layout.FRAME_ALIGN == 0, "segment size is a multiple of 8");
    Invariant.check(segmentSize > Layout.SEGMENT_DATA_OFFSET, "a segment has room for frames");
    this.slots = new ByteBuffer[slots.length];
    for (int i = 0; i < slots.length; i++) {
      Invariant.check(slots[i].capacity() == segmentSize, "segments are of one size");
      this.slots[i] = slots[i].duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
    }
    this.persistence = persistence;
  }

  /**
   * The zone that fills {@code length} bytes of {@code memory} from {@code offset}; persistent
   * where the memory can be.
   */
  public static LogZone of(MappedMemory memory, long offset, long length) {
    ByteBuffer[] slots = new ByteBuffer[Math.toIntExact(length / Layout.SEGMENT_SIZE)];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = memory.slice(offset + (long) i * Layout.SEGMENT_SIZE, Layout.SEGMENT_SIZE);
    }
    return new LogZone(
        slots,
        memory.isDurable()
            ? (slot, at, size) ->
                memory.persist(offset + (long) slot * Layout.SEGMENT_SIZE + at, size)
            : Persistence.NONE);
  }

  /** How many slots there are. */
  public int slotCount() {
    return slots.length;
  }

  /** Bytes of a segment. */
  public int segmentSize() {
    return segmentSize;
  }

  /** The memory of a slot, little-endian, position 0; one view, shared. */
  public ByteBuffer slot(int slot) {
    return slots[slot];
  }

  /** Copies the bytes for frames from one slot to another. */
  public void copy(int from, int to) {
    int length = segmentSize - Layout.SEGMENT_DATA_OFFSET;
    slots[to].put(Layout.SEGMENT_DATA_OFFSET, slots[from], Layout.SEGMENT_DATA_OFFSET, length);
    persist(to, Layout.SEGMENT_DATA_OFFSET, length);
  }

  /** Zeroes bytes of a slot, durably. */
  void zero(int slot, int offset, int length) {
    int end = offset + length;
    for (int at = offset; at < end; at += ZEROS.capacity()) {
      slots[slot].put(at, ZEROS, 0, Math.min(ZEROS.capacity(), end - at));
    }
    persist(slot, offset, length);
  }

  /** Makes what the slot says of itself zero, durably; promises and frames stay. */
  public void zeroHeader(int slot) {
    Zeros.write(slots[slot], 0, Layout.PROMISE_OFFSET);
    int after = Layout.PROMISE_OFFSET + Layout.PROMISE_SIZE;
    Zeros.write(slots[slot], after, Layout.SEGMENT_DATA_OFFSET - after);
    persist(slot, 0, Layout.SEGMENT_DATA_OFFSET);
  }

  /**
   * Makes {@code length} bytes of {@code slot} durable.
   *
   * @throws UncheckedIOException when they may not be
   */
  public void persist(int slot, int offset, int length) {
    try {
      persistence.persist(slot, offset, length);
    } catch (IOException e) {
      throw new UncheckedIOException("log segment " + slot + " cannot be made persistent", e);
    }
  }
}
