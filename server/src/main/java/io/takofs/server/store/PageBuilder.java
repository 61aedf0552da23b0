package io.takofs.server.store;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes a page anew from entries in key order: to split, to merge, to close the gaps that removed
 * cells left. Sources are read from copies, because the page written is often one of them.
 *
 * <p>Thread rule: the store's thread.
 */
final class PageBuilder {
  private static final int COPIES = 2;

  private final ByteBuffer copies =
      ByteBuffer.allocateDirect(COPIES * Layout.PAGE_SIZE).order(ByteOrder.LITTLE_ENDIAN);

  private ByteBuffer page;
  private int at;
  private boolean inner;
  private int count;

  /** The copies' buffer. */
  ByteBuffer copies() {
    return copies;
  }

  /** Copies a page to place 0 or 1; returns its offset in {@link #copies}. */
  int copy(int place, ByteBuffer b, int from) {
    int to = place * Layout.PAGE_SIZE;
    copies.put(to, b, from, Layout.PAGE_SIZE);
    return to;
  }

  /** Begins a page with these bounds; {@code upper} null for none. */
  void begin(ByteBuffer b, int offset, int tree, int level, byte[] lower, byte[] upper) {
    page = b;
    at = offset;
    inner = level > 0;
    count = 0;
    Page.init(b, at, tree, level, lower, upper);
  }

  /** Appends an entry. */
  void add(byte[] key, byte[] value) {
    int skipped = inner && count == 0 ? key.length : Page.prefixLength(page, at);
    int length = key.length - skipped;
    int cell = Page.takeCell(page, at, count, length, value.length);
    page.put(cell, key, skipped, length);
    page.put(cell + length, value);
    added();
  }

  /** Appends entry {@code slot} of the copy at {@code from}. */
  void addCopied(int from, int slot) {
    if (inner && (count == 0 || slot == 0)) {
      byte[] key = slot == 0 ? Page.lower(copies, from) : Page.key(copies, from, slot);
      add(key, Page.value(copies, from, slot));
      return;
    }
    int shorter = Page.prefixLength(page, at) - Page.prefixLength(copies, from);
    if (shorter < 0) {
      add(Page.key(copies, from, slot), Page.value(copies, from, slot));
      return;
    }
    int length = Page.keyLength(copies, from, slot) - shorter;
    int valueLength = Page.valueLength(copies, from, slot);
    int cell = Page.takeCell(page, at, count, length, valueLength);
    page.put(cell, copies, Page.cellAt(copies, from, slot) + 2 + shorter, length + valueLength);
    added();
  }

  private void added() {
    Page.setHead(page, at, count);
    count++;
    Page.setCount(page, at, count);
  }

  /** Closes the gaps of a page. */
  void compact(ByteBuffer b, int offset) {
    int from = copy(0, b, offset);
    begin(
        b,
        offset,
        Page.tree(copies, from),
        Page.level(copies, from),
        Page.lower(copies, from),
        Page.upper(copies, from));
    int entries = Page.count(copies, from);
    for (int slot = 0; slot < entries; slot++) {
      addCopied(from, slot);
    }
  }
}
