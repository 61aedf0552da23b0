package io.takofs.server.store;

import io.takofs.base.TakoException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;

/**
 * A B+tree on pages, copy on write: a change copies the pages from the root to its leaf, unless the
 * present generation has them already. The shape follows from the changes alone, never from when
 * they were copied.
 *
 * <p>Thread rule: the store's thread.
 */
final class Tree implements OrderedMap {
  /** A page emptier than this looks for a neighbour to merge with. */
  private static final int MERGE_BELOW = Page.CAPACITY / 2;

  /** The maximum fill of a merged page, so that the next few puts do not split it again. */
  private static final int MERGED_MAX = Page.CAPACITY / 4 * 3;

  private static final byte[] NO_BOUND = {};

  private final int number;
  private final PageAllocator pages;
  private final PageMemory memory;
  private final PageBuilder builder;

  private int root;

  /** Pages and slots from the root down, of the change at hand. */
  private final int[] path = new int[PageAllocator.LEVELS];

  private final int[] slots = new int[PageAllocator.LEVELS];
  private int leaf;

  Tree(int number, PageAllocator pages, PageBuilder builder, int root) {
    this.number = number;
    this.pages = pages;
    this.memory = pages.memory();
    this.builder = builder;
    this.root = root;
  }

  /** Page number of the root, 0 when empty. */
  int root() {
    return root;
  }

  @Override
  public byte[] get(byte[] key) {
    if (root == 0) {
      return null;
    }
    int page = leafOf(key);
    ByteBuffer b = memory.buffer(page);
    int at = memory.offset(page);
    int slot = Page.search(b, at, key);
    return slot < 0 ? null : Page.value(b, at, slot);
  }

  @Override
  public void addPagesOf(byte[] key, BitSet pages) {
    if (root != 0) {
      descend(key);
      for (int depth = 0; depth <= leaf; depth++) {
        pages.set(path[depth]);
      }
    }
  }

  @Override
  public void scan(byte[] from, Visitor visitor) {
    byte[] key = from;
    while (root != 0 && key != null) {
      int page = leafOf(key);
      ByteBuffer b = memory.buffer(page);
      int at = memory.offset(page);
      int found = Page.search(b, at, key);
      int count = Page.count(b, at);
      for (int slot = found < 0 ? -1 - found : found; slot < count; slot++) {
        if (!visitor.visit(Page.key(b, at, slot), Page.value(b, at, slot))) {
          return;
        }
      }
      key = Page.upper(b, at);
    }
  }

  private int leafOf(byte[] key) {
    int page = root;
    while (true) {
      ByteBuffer b = memory.buffer(page);
      int at = memory.offset(page);
      if (Page.level(b, at) == 0) {
        return page;
      }
      page = Page.child(b, at, Page.childSlot(b, at, key));
    }
  }

  @Override
  public void put(byte[] key, byte[] value) throws TakoException {
    if (key.length > KEY_MAX || value.length > VALUE_MAX) {
      throw new IllegalArgumentException(
          "key of " + key.length + " bytes, value of " + value.length + ": too long");
    }
    if (root == 0) {
      pages.checkRoom(1);
      root = pages.allocate(0);
      Page.init(memory.buffer(root), memory.offset(root), number, 0, NO_BOUND, null);
    }
    descend(key);
    ByteBuffer b = memory.buffer(path[leaf]);
    int at = memory.offset(path[leaf]);
    int slot = Page.search(b, at, key);
    if (slot < 0) {
      insert(-1 - slot, key, value);
    } else if (Page.valueLength(b, at, slot) == value.length) {
      makeWritable();
      Page.setValue(memory.buffer(path[leaf]), memory.offset(path[leaf]), slot, value);
    } else {
      replace(slot, key, value);
    }
  }

  private void replace(int slot, byte[] key, byte[] value) throws TakoException {
    ByteBuffer b = memory.buffer(path[leaf]);
    int at = memory.offset(path[leaf]);
    int growth = value.length - Page.valueLength(b, at, slot);
    if (!Page.fits(b, at, growth)) {
      pages.checkRoom(leaf + 2);
    }
    makeWritable();
    Page.remove(memory.buffer(path[leaf]), memory.offset(path[leaf]), slot);
    insert(slot, key, value);
    if (growth < 0) {
      rebalance(leaf);
    }
  }

  private void insert(int slot, byte[] key, byte[] value) throws TakoException {
    ByteBuffer b = memory.buffer(path[leaf]);
    int at = memory.offset(path[leaf]);
    int size = Page.ENTRY_OVERHEAD + key.length - Page.prefixLength(b, at) + value.length;
    boolean fits = Page.fits(b, at, size);
    if (!fits) {
      pages.checkRoom(leaf + 2);
    }
    makeWritable();
    insert(leaf, slot, key, value, size);
  }

  /** Puts an entry at its slot of {@code path[depth]}, which is writable; splits if it must. */
  private void insert(int depth, int slot, byte[] key, byte[] value, int size) {
    ByteBuffer b = memory.buffer(path[depth]);
    int at = memory.offset(path[depth]);
    if (!Page.fits(b, at, size)) {
      split(depth, slot, key, value);
      return;
    }
    if (!Page.fitsInGap(b, at, size)) {
      builder.compact(b, at);
    }
    Page.insert(b, at, slot, key, value);
  }

  /** Splits {@code path[depth]} in two while the entry {@code key} joins it at {@code slot}. */
  private void split(int depth, int slot, byte[] key, byte[] value) {
    int left = path[depth];
    ByteBuffer b = memory.buffer(left);
    int at = memory.offset(left);
    Split split = new Split(builder.copies(), builder.copy(0, b, at), slot, key, value);
    int level = Page.level(b, at);
    int right = pages.allocate(level);
    byte[] lower = Page.lower(b, at);
    byte[] upper = Page.upper(b, at);
    builder.begin(b, at, number, level, lower, split.bound());
    split.addTo(builder, 0, split.point());
    builder.begin(memory.buffer(right), memory.offset(right), number, level, split.bound(), upper);
    split.addTo(builder, split.point(), split.count());
    link(depth, left, split.bound(), right);
  }

  /** Gives {@code right}, split off {@code left} at {@code depth}, a place in the page above. */
  private void link(int depth, int left, byte[] bound, int right) {
    if (depth > 0) {
      ByteBuffer b = memory.buffer(path[depth - 1]);
      int at = memory.offset(path[depth - 1]);
      int size = Page.ENTRY_OVERHEAD + bound.length - Page.prefixLength(b, at) + Integer.BYTES;
      insert(depth - 1, slots[depth - 1] + 1, bound, childValue(right), size);
      return;
    }
    int level = Page.level(memory.buffer(left), memory.offset(left)) + 1;
    root = pages.allocate(level);
    builder.begin(memory.buffer(root), memory.offset(root), number, level, NO_BOUND, null);
    builder.add(NO_BOUND, childValue(left));
    builder.add(bound, childValue(right));
  }

  private static byte[] childValue(int page) {
    byte[] value = new byte[Integer.BYTES];
    ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).putInt(page);
    return value;
  }

  @Override
  public boolean remove(byte[] key) {
    if (root == 0) {
      return false;
    }
    descend(key);
    int slot = Page.search(memory.buffer(path[leaf]), memory.offset(path[leaf]), key);
    if (slot < 0) {
      return false;
    }
    makeWritable();
    Page.remove(memory.buffer(path[leaf]), memory.offset(path[leaf]), slot);
    rebalance(leaf);
    return true;
  }

  /** Sets path, slots and leaf to where {@code key} belongs. */
  private void descend(byte[] key) {
    int page = root;
    int depth = 0;
    while (true) {
      path[depth] = page;
      ByteBuffer b = memory.buffer(page);
      int at = memory.offset(page);
      if (Page.level(b, at) == 0) {
        leaf = depth;
        return;
      }
      slots[depth] = Page.childSlot(b, at, key);
      page = Page.child(b, at, slots[depth]);
      depth++;
    }
  }

  /** Makes the pages of the path writable; a writable leaf has only writable pages above it. */
  private void makeWritable() {
    if (pages.isWritable(path[leaf])) {
      return;
    }
    for (int depth = 0; depth <= leaf; depth++) {
      if (pages.isWritable(path[depth])) {
        continue;
      }
      path[depth] = pages.copy(path[depth]);
      if (depth == 0) {
        root = path[0];
      } else {
        int above = path[depth - 1];
        Page.setChild(memory.buffer(above), memory.offset(above), slots[depth - 1], path[depth]);
      }
    }
  }

  /** Merges {@code path[depth]} with a neighbour if it is rather empty, and so on upwards. */
  private void rebalance(int depth) {
    int page = path[depth];
    if (depth == 0) {
      shrinkRoot();
      return;
    }
    if (Page.used(memory.buffer(page), memory.offset(page)) >= MERGE_BELOW) {
      return;
    }
    int above = path[depth - 1];
    int slot = slots[depth - 1];
    int last = Page.count(memory.buffer(above), memory.offset(above)) - 1;
    if ((slot < last && merge(depth, slot)) || (slot > 0 && merge(depth, slot - 1))) {
      rebalance(depth - 1);
    }
  }

  /**
   * Merges the children at {@code slot} and the one after it of the page above {@code path[depth]},
   * one of the two, if they fit; into {@code path[depth]}, because that is writable.
   */
  private boolean merge(int depth, int slot) {
    ByteBuffer above = memory.buffer(path[depth - 1]);
    int aboveAt = memory.offset(path[depth - 1]);
    int leftPage = Page.child(above, aboveAt, slot);
    int rightPage = Page.child(above, aboveAt, slot + 1);
    Merge merge =
        new Merge(
            memory.buffer(leftPage),
            memory.offset(leftPage),
            memory.buffer(rightPage),
            memory.offset(rightPage));
    if (merge.used() > (merge.hasEmptySide() ? Page.CAPACITY : MERGED_MAX)) {
      return false;
    }
    int kept = path[depth];
    merge.write(builder, number, memory.buffer(kept), memory.offset(kept));
    Page.setChild(above, aboveAt, slot, kept);
    Page.remove(above, aboveAt, slot + 1);
    pages.release(kept == leftPage ? rightPage : leftPage);
    return true;
  }

  /** Drops a root that is empty or has a single child. */
  private void shrinkRoot() {
    while (root != 0) {
      ByteBuffer b = memory.buffer(root);
      int at = memory.offset(root);
      boolean isLeaf = Page.level(b, at) == 0;
      int count = Page.count(b, at);
      if (isLeaf ? count > 0 : count > 1) {
        return;
      }
      int child = isLeaf ? 0 : Page.child(b, at, 0);
      pages.release(root);
      root = child;
    }
  }

  /** The shortest key above {@code below} and not above {@code key}. */
  static byte[] shortestBound(byte[] below, byte[] key) {
    return Arrays.copyOf(key, Arrays.mismatch(below, key) + 1);
  }
}
