package io.takofs.server.store;

import static io.takofs.layout.Layout.PAGE_HEADER_COUNT_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_GENERATION_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_HEAP_START_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_LEVEL_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_LIVE_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_LOWER_LENGTH_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_LOWER_OFFSET_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_PAGE_NUMBER_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_PREFIX_LENGTH_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_SIZE;
import static io.takofs.layout.Layout.PAGE_HEADER_TREE_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_UPPER_LENGTH_OFFSET;
import static io.takofs.layout.Layout.PAGE_HEADER_UPPER_OFFSET_OFFSET;
import static io.takofs.layout.Layout.PAGE_NO_UPPER;
import static io.takofs.layout.Layout.PAGE_SIZE;
import static io.takofs.layout.Layout.PAGE_SLOT_HEAD_OFFSET;
import static io.takofs.layout.Layout.PAGE_SLOT_KEY_LENGTH_OFFSET;
import static io.takofs.layout.Layout.PAGE_SLOT_OFFSET_OFFSET;
import static io.takofs.layout.Layout.PAGE_SLOT_SIZE;

import io.takofs.base.Invariant;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The inside of a page: a header, slots in key order, cells from the end down. Every page knows the
 * bounds of its keys; what both bounds have in common, all its keys have, and it is stored once.
 * Each slot holds the first bytes of its key, so most comparisons touch nothing but slots.
 *
 * <p>An inner page's entries are (lower bound of the child's keys, child). The first entry's key is
 * the page's own lower bound and is stored empty.
 *
 * <p>All methods take the buffer {@code b} and the offset {@code at} where the page begins; they
 * trust the page (its CRC was checked when the store was opened).
 */
final class Page {
  /** Bytes of everything but the header. */
  static final int CAPACITY = PAGE_SIZE - PAGE_HEADER_SIZE;

  /** Bytes of an entry beside its key (after the prefix) and value. */
  static final int ENTRY_OVERHEAD = PAGE_SLOT_SIZE + 2;

  private static final VarHandle KEY_INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private Page() {}

  static int number(ByteBuffer b, int at) {
    return b.getInt(at + PAGE_HEADER_PAGE_NUMBER_OFFSET);
  }

  static void setNumber(ByteBuffer b, int at, int number) {
    b.putInt(at + PAGE_HEADER_PAGE_NUMBER_OFFSET, number);
  }

  static long generation(ByteBuffer b, int at) {
    return b.getLong(at + PAGE_HEADER_GENERATION_OFFSET);
  }

  static void setGeneration(ByteBuffer b, int at, long generation) {
    b.putLong(at + PAGE_HEADER_GENERATION_OFFSET, generation);
  }

  static int tree(ByteBuffer b, int at) {
    return u16(b, at + PAGE_HEADER_TREE_OFFSET);
  }

  static int level(ByteBuffer b, int at) {
    return u16(b, at + PAGE_HEADER_LEVEL_OFFSET);
  }

  static int count(ByteBuffer b, int at) {
    return u16(b, at + PAGE_HEADER_COUNT_OFFSET);
  }

  static int prefixLength(ByteBuffer b, int at) {
    return u16(b, at + PAGE_HEADER_PREFIX_LENGTH_OFFSET);
  }

  static int heapStart(ByteBuffer b, int at) {
    return u16(b, at + PAGE_HEADER_HEAP_START_OFFSET);
  }

  /** Bytes in use of {@link #CAPACITY}: slots, cells, bounds. Says what fits, fragmented or not. */
  static int used(ByteBuffer b, int at) {
    return u16(b, at + PAGE_HEADER_LIVE_OFFSET) + PAGE_SLOT_SIZE * count(b, at);
  }

  /** Bytes in use without the two bounds. */
  static int entriesUsed(ByteBuffer b, int at) {
    int upper = u16(b, at + PAGE_HEADER_UPPER_LENGTH_OFFSET);
    int bounds = u16(b, at + PAGE_HEADER_LOWER_LENGTH_OFFSET);
    return used(b, at) - bounds - (upper == PAGE_NO_UPPER ? 0 : upper);
  }

  static byte[] lower(ByteBuffer b, int at) {
    return bytes(
        b,
        at + u16(b, at + PAGE_HEADER_LOWER_OFFSET_OFFSET),
        u16(b, at + PAGE_HEADER_LOWER_LENGTH_OFFSET));
  }

  /** The exclusive upper bound, or null for none. */
  static byte[] upper(ByteBuffer b, int at) {
    int length = u16(b, at + PAGE_HEADER_UPPER_LENGTH_OFFSET);
    return length == PAGE_NO_UPPER
        ? null
        : bytes(b, at + u16(b, at + PAGE_HEADER_UPPER_OFFSET_OFFSET), length);
  }

  static int keyLength(ByteBuffer b, int at, int slot) {
    return u16(b, slotAt(at, slot) + PAGE_SLOT_KEY_LENGTH_OFFSET);
  }

  static int valueLength(ByteBuffer b, int at, int slot) {
    return u16(b, cellAt(b, at, slot));
  }

  /** Bytes that the entry counts for in {@link #used}. */
  static int entrySize(ByteBuffer b, int at, int slot) {
    return ENTRY_OVERHEAD + keyLength(b, at, slot) + valueLength(b, at, slot);
  }

  /** The whole key; not for the first entry of an inner page. */
  static byte[] key(ByteBuffer b, int at, int slot) {
    int prefix = prefixLength(b, at);
    int length = keyLength(b, at, slot);
    byte[] key = new byte[prefix + length];
    b.get(at + u16(b, at + PAGE_HEADER_LOWER_OFFSET_OFFSET), key, 0, prefix);
    b.get(cellAt(b, at, slot) + 2, key, prefix, length);
    return key;
  }

  static byte[] value(ByteBuffer b, int at, int slot) {
    return bytes(b, valueAt(b, at, slot), valueLength(b, at, slot));
  }

  static void setValue(ByteBuffer b, int at, int slot, byte[] value) {
    b.put(valueAt(b, at, slot), value);
  }

  static int child(ByteBuffer b, int at, int slot) {
    return b.getInt(valueAt(b, at, slot));
  }

  static void setChild(ByteBuffer b, int at, int slot, int child) {
    b.putInt(valueAt(b, at, slot), child);
  }

  /** Slot of {@code key}, or {@code -1 - i} where i is the slot it would take. For leaves. */
  static int search(ByteBuffer b, int at, byte[] key) {
    return search(b, at, key, 0);
  }

  /** Slot of the child whose bounds contain {@code key}. For inner pages. */
  static int childSlot(ByteBuffer b, int at, byte[] key) {
    int found = search(b, at, key, 1);
    return found >= 0 ? found : -2 - found;
  }

  private static int search(ByteBuffer b, int at, byte[] key, int from) {
    int prefix = prefixLength(b, at);
    int head = head(key, prefix) + Integer.MIN_VALUE;
    int low = from;
    int high = count(b, at) - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int slot = slotAt(at, middle);
      int slotHead = b.getInt(slot + PAGE_SLOT_HEAD_OFFSET) + Integer.MIN_VALUE;
      int order = slotHead < head ? -1 : slotHead > head ? 1 : compare(b, at, slot, key, prefix);
      if (order < 0) {
        low = middle + 1;
      } else if (order > 0) {
        high = middle - 1;
      } else {
        return middle;
      }
    }
    return -1 - low;
  }

  /** Compares an entry's key with {@code key} where their heads are equal. */
  private static int compare(ByteBuffer b, int at, int slot, byte[] key, int prefix) {
    int length = u16(b, slot + PAGE_SLOT_KEY_LENGTH_OFFSET);
    int cell = at + u16(b, slot + PAGE_SLOT_OFFSET_OFFSET) + 2;
    int common = Math.min(length, key.length - prefix);
    for (int i = 4; i < common; i++) {
      int order = (b.get(cell + i) & 0xff) - (key[prefix + i] & 0xff);
      if (order != 0) {
        return order;
      }
    }
    return length - (key.length - prefix);
  }

  /** First four bytes of {@code key} from {@code from}, zeros after its end. */
  private static int head(byte[] key, int from) {
    if (key.length - from >= 4) {
      return (int) KEY_INT.get(key, from);
    }
    int head = 0;
    for (int i = from; i < key.length; i++) {
      head |= (key[i] & 0xff) << (24 - 8 * (i - from));
    }
    return head;
  }

  /** Whether an entry fits, perhaps after {@link PageBuilder#compact}. */
  static boolean fits(ByteBuffer b, int at, int entrySize) {
    return used(b, at) + entrySize <= CAPACITY;
  }

  /** Whether an entry fits in the gap between slots and cells. */
  static boolean fitsInGap(ByteBuffer b, int at, int entrySize) {
    return PAGE_HEADER_SIZE + PAGE_SLOT_SIZE * count(b, at) + entrySize <= heapStart(b, at);
  }

  /** Inserts an entry at {@code slot}; it must fit in the gap. */
  static void insert(ByteBuffer b, int at, int slot, byte[] key, byte[] value) {
    int prefix = prefixLength(b, at);
    int count = count(b, at);
    int from = slotAt(at, slot);
    b.put(from + PAGE_SLOT_SIZE, b, from, PAGE_SLOT_SIZE * (count - slot));
    setU16(b, at + PAGE_HEADER_COUNT_OFFSET, count + 1);
    int length = key.length - prefix;
    int cell = takeCell(b, at, slot, length, value.length);
    b.put(cell, key, prefix, length);
    b.put(cell + length, value);
    setHead(b, at, slot);
  }

  /** Removes an entry; its bytes stay dead until the page is compacted. */
  static void remove(ByteBuffer b, int at, int slot) {
    int count = count(b, at);
    int live = u16(b, at + PAGE_HEADER_LIVE_OFFSET);
    int cellSize = entrySize(b, at, slot) - PAGE_SLOT_SIZE;
    int to = slotAt(at, slot);
    b.put(to, b, to + PAGE_SLOT_SIZE, PAGE_SLOT_SIZE * (count - slot - 1));
    setU16(b, at + PAGE_HEADER_COUNT_OFFSET, count - 1);
    setU16(b, at + PAGE_HEADER_LIVE_OFFSET, live - cellSize);
  }

  /**
   * Takes room for a cell and points {@code slot} at it, its head still to be set; returns where
   * the cell's key begins.
   */
  static int takeCell(ByteBuffer b, int at, int slot, int keyLength, int valueLength) {
    int size = 2 + keyLength + valueLength;
    int heapStart = heapStart(b, at) - size;
    Invariant.check(
        heapStart >= PAGE_HEADER_SIZE + PAGE_SLOT_SIZE * (slot + 1), "a cell must fit its page");
    setU16(b, at + PAGE_HEADER_HEAP_START_OFFSET, heapStart);
    setU16(b, at + PAGE_HEADER_LIVE_OFFSET, u16(b, at + PAGE_HEADER_LIVE_OFFSET) + size);
    int slotAt = slotAt(at, slot);
    setU16(b, slotAt + PAGE_SLOT_OFFSET_OFFSET, heapStart);
    setU16(b, slotAt + PAGE_SLOT_KEY_LENGTH_OFFSET, keyLength);
    setU16(b, at + heapStart, valueLength);
    return at + heapStart + 2;
  }

  /** Sets a slot's head from the key in its cell. */
  static void setHead(ByteBuffer b, int at, int slot) {
    int length = Math.min(4, keyLength(b, at, slot));
    int cell = cellAt(b, at, slot) + 2;
    int head = 0;
    for (int i = 0; i < length; i++) {
      head |= (b.get(cell + i) & 0xff) << (24 - 8 * i);
    }
    b.putInt(slotAt(at, slot) + PAGE_SLOT_HEAD_OFFSET, head);
  }

  /** Makes the page empty, with these bounds; number and generation stay. */
  static void init(ByteBuffer b, int at, int tree, int level, byte[] lower, byte[] upper) {
    int upperLength = upper == null ? 0 : upper.length;
    int upperOffset = PAGE_SIZE - upperLength;
    int lowerOffset = upperOffset - lower.length;
    setU16(b, at + PAGE_HEADER_TREE_OFFSET, tree);
    setU16(b, at + PAGE_HEADER_LEVEL_OFFSET, level);
    setU16(b, at + PAGE_HEADER_COUNT_OFFSET, 0);
    setU16(b, at + PAGE_HEADER_HEAP_START_OFFSET, lowerOffset);
    setU16(b, at + PAGE_HEADER_LIVE_OFFSET, lower.length + upperLength);
    setU16(b, at + PAGE_HEADER_PREFIX_LENGTH_OFFSET, commonPrefix(lower, upper));
    setU16(b, at + PAGE_HEADER_LOWER_OFFSET_OFFSET, lowerOffset);
    setU16(b, at + PAGE_HEADER_LOWER_LENGTH_OFFSET, lower.length);
    setU16(b, at + PAGE_HEADER_UPPER_OFFSET_OFFSET, upperOffset);
    setU16(b, at + PAGE_HEADER_UPPER_LENGTH_OFFSET, upper == null ? PAGE_NO_UPPER : upperLength);
    b.putInt(at + PAGE_HEADER_SIZE - 4, 0);
    b.put(at + lowerOffset, lower);
    if (upper != null) {
      b.put(at + upperOffset, upper);
    }
  }

  /** Bytes that every key from {@code lower} to {@code upper} begins with; null is no bound. */
  static int commonPrefix(byte[] lower, byte[] upper) {
    if (upper == null) {
      return 0;
    }
    int mismatch = Arrays.mismatch(lower, upper);
    return mismatch < 0 ? lower.length : mismatch;
  }

  /** The offset of an entry's cell. */
  static int cellAt(ByteBuffer b, int at, int slot) {
    return at + u16(b, slotAt(at, slot) + PAGE_SLOT_OFFSET_OFFSET);
  }

  private static int valueAt(ByteBuffer b, int at, int slot) {
    return cellAt(b, at, slot) + 2 + keyLength(b, at, slot);
  }

  static void setCount(ByteBuffer b, int at, int count) {
    setU16(b, at + PAGE_HEADER_COUNT_OFFSET, count);
  }

  /** Sets the CRC. */
  static void seal(ByteBuffer b, int at, CRC32C crc) {
    b.putInt(at, crc(b, at, crc));
  }

  /** Whether the CRC is right. */
  static boolean isSealed(ByteBuffer b, int at, CRC32C crc) {
    return b.getInt(at) == crc(b, at, crc);
  }

  private static int crc(ByteBuffer b, int at, CRC32C crc) {
    crc.reset();
    crc.update(b.slice(at + 4, PAGE_SIZE - 4));
    return (int) crc.getValue();
  }

  private static int slotAt(int at, int slot) {
    return at + PAGE_HEADER_SIZE + PAGE_SLOT_SIZE * slot;
  }

  private static byte[] bytes(ByteBuffer b, int from, int length) {
    byte[] bytes = new byte[length];
    b.get(from, bytes);
    return bytes;
  }

  private static int u16(ByteBuffer b, int at) {
    return b.getShort(at) & 0xffff;
  }

  private static void setU16(ByteBuffer b, int at, int value) {
    b.putShort(at, (short) value);
  }
}
