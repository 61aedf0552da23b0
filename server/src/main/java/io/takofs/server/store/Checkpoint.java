package io.takofs.server.store;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.zip.CRC32C;

/**
 * The roots of all trees of one checkpoint. Stored twice, in pages 0 and 1: a crash or a bad bit
 * spoils one copy, never both.
 *
 * <p>While the checkpoint of another member is taken over, marks stand in place of both: there is
 * no checkpoint then. Pages change only after both marks are there and before the first of the new
 * roots is; so a copy of roots that is whole has all its pages, whatever the other copy is.
 *
 * @param generation number of the checkpoint; no page it has is of a later one
 * @param index last log entry it contains
 * @param pageCount pages of the group's zone; what may be filled follows from it, so it is the same
 *     at all members
 * @param roots page numbers, 0 for an empty tree
 */
record Checkpoint(long generation, long index, int pageCount, int[] roots) {
  private static final int CRC = Layout.CHECKPOINT_CRC32C_OFFSET;

  /**
   * The newer valid copy.
   *
   * @throws TakoException CORRUPT if there is none; UNAVAILABLE if the takeover of one has not
   *     ended
   */
  static Checkpoint read(PageMemory memory) throws TakoException {
    ByteBuffer a = copy(memory, 0);
    ByteBuffer b = copy(memory, 1);
    boolean validA = isValid(a);
    boolean validB = isValid(b);
    if (!validA && !validB && (isMark(a) || isMark(b))) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "page zone: the checkpoint of another member of the group, up to log entry "
              + decode(isMark(a) ? a : b).index
              + ", was not taken over to the end; there is no namespace here until one is");
    }
    if (!validA && !validB) {
      throw new TakoException(
          Status.CORRUPT,
          "page zone: both copies of the checkpoint fail their CRC; the namespace cannot be read,"
              + " remove the pool's directory and start with --format for an empty one");
    }
    Checkpoint newer = decode(validA && (!validB || generation(a) >= generation(b)) ? a : b);
    if (newer.pageCount > memory.pages()) {
      throw new TakoException(
          Status.CORRUPT,
          "page zone: the checkpoint is of a zone of "
              + newer.pageCount
              + " pages, this one has "
              + memory.pages());
    }
    return newer;
  }

  /** Whether the takeover of a checkpoint has begun, and not ended. */
  static boolean isIncomplete(PageMemory memory) {
    ByteBuffer a = copy(memory, 0);
    ByteBuffer b = copy(memory, 1);
    return !isValid(a) && !isValid(b) && (isMark(a) || isMark(b));
  }

  /** Pages of the group's zone, of a takeover that has not ended. */
  static int incompletePageCount(PageMemory memory) {
    ByteBuffer a = copy(memory, 0);
    return decode(isMark(a) ? a : copy(memory, 1)).pageCount;
  }

  /**
   * Of bytes that another member sent.
   *
   * @throws TakoException MALFORMED
   */
  static Checkpoint parse(ByteBuffer bytes) throws TakoException {
    ByteBuffer whole = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (whole.capacity() != Layout.CHECKPOINT_SIZE
        || !isValid(whole)
        || whole.getLong(Layout.CHECKPOINT_PAGE_COUNT_OFFSET) < PagedStore.FIRST_PAGE
        || whole.getLong(Layout.CHECKPOINT_PAGE_COUNT_OFFSET) > Integer.MAX_VALUE) {
      throw new TakoException(
          Status.MALFORMED, "a checkpoint that another member sent is none: " + bytes);
    }
    return decode(whole);
  }

  /** Puts a mark in place of both copies: there is no checkpoint until this one is written. */
  void writeMarks(PageMemory memory) {
    ByteBuffer mark = encode(Layout.CHECKPOINT_INCOMPLETE_MAGIC);
    VarHandle.fullFence();
    replace(memory, 0, mark);
    replace(memory, 1, mark);
  }

  /** Writes both copies; one of them is whole at every moment if one was before. */
  void write(PageMemory memory) {
    ByteBuffer encoded = encode();
    ByteBuffer a = copy(memory, 0);
    ByteBuffer b = copy(memory, 1);
    boolean firstA = !isValid(a) || (isValid(b) && generation(a) < generation(b));
    VarHandle.fullFence();
    replace(memory, firstA ? 0 : 1, encoded);
    replace(memory, firstA ? 1 : 0, encoded);
  }

  /** The pages of all trees. They must be whole and unchanged; leaves are not read. */
  BitSet pages(PageMemory memory) {
    BitSet pages = new BitSet(pageCount);
    for (int root : roots) {
      if (root != 0) {
        addPages(memory, root, pages);
      }
    }
    return pages;
  }

  private static void addPages(PageMemory memory, int page, BitSet pages) {
    pages.set(page);
    ByteBuffer b = memory.buffer(page);
    int at = memory.offset(page);
    int level = Page.level(b, at);
    int count = level == 0 ? 0 : Page.count(b, at);
    for (int slot = 0; slot < count; slot++) {
      int child = Page.child(b, at, slot);
      if (level == 1) {
        pages.set(child);
      } else {
        addPages(memory, child, pages);
      }
    }
  }

  private static void replace(PageMemory memory, int page, ByteBuffer encoded) {
    copy(memory, page).put(0, encoded, 0, Layout.CHECKPOINT_SIZE);
    memory.persist(page, Layout.CHECKPOINT_SIZE);
    VarHandle.fullFence();
  }

  ByteBuffer encode() {
    return encode(Layout.CHECKPOINT_MAGIC);
  }

  private ByteBuffer encode(int magic) {
    ByteBuffer to = ByteBuffer.allocate(Layout.CHECKPOINT_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    to.putInt(Layout.CHECKPOINT_MAGIC_OFFSET, magic);
    to.putInt(Layout.CHECKPOINT_TREES_OFFSET, Layout.STORE_TREES);
    to.putLong(Layout.CHECKPOINT_GENERATION_OFFSET, generation);
    to.putLong(Layout.CHECKPOINT_INDEX_OFFSET, index);
    to.putLong(Layout.CHECKPOINT_PAGE_COUNT_OFFSET, pageCount);
    for (int tree = 0; tree < Layout.STORE_TREES; tree++) {
      to.putInt(Layout.CHECKPOINT_ROOTS_OFFSET + 4 * tree, roots[tree]);
    }
    to.putInt(CRC, crc(to));
    return to;
  }

  private static Checkpoint decode(ByteBuffer from) {
    int[] roots = new int[Layout.STORE_TREES];
    for (int tree = 0; tree < roots.length; tree++) {
      roots[tree] = from.getInt(Layout.CHECKPOINT_ROOTS_OFFSET + 4 * tree);
    }
    return new Checkpoint(
        generation(from),
        from.getLong(Layout.CHECKPOINT_INDEX_OFFSET),
        (int) from.getLong(Layout.CHECKPOINT_PAGE_COUNT_OFFSET),
        roots);
  }

  private static ByteBuffer copy(PageMemory memory, int page) {
    return memory
        .buffer(page)
        .slice(memory.offset(page), Layout.CHECKPOINT_SIZE)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  private static boolean isValid(ByteBuffer copy) {
    return isWhole(copy, Layout.CHECKPOINT_MAGIC);
  }

  private static boolean isMark(ByteBuffer copy) {
    return isWhole(copy, Layout.CHECKPOINT_INCOMPLETE_MAGIC);
  }

  private static boolean isWhole(ByteBuffer copy, int magic) {
    return copy.getInt(Layout.CHECKPOINT_MAGIC_OFFSET) == magic
        && copy.getInt(Layout.CHECKPOINT_TREES_OFFSET) == Layout.STORE_TREES
        && copy.getInt(CRC) == crc(copy);
  }

  private static long generation(ByteBuffer copy) {
    return copy.getLong(Layout.CHECKPOINT_GENERATION_OFFSET);
  }

  private static int crc(ByteBuffer copy) {
    CRC32C crc = new CRC32C();
    crc.update(copy.slice(0, CRC));
    return (int) crc.getValue();
  }
}
