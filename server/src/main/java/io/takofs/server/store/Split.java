package io.takofs.server.store;

import java.nio.ByteBuffer;

/**
 * How a page is split while an entry joins it. An entry that joins at the end begins a new page, so
 * that keys that come in order fill their pages; else both halves get about the same bytes.
 */
final class Split {
  private final ByteBuffer copies;
  private final int from;
  private final boolean inner;
  private final int slot;
  private final byte[] key;
  private final byte[] value;
  private final int count;
  private final int point;
  private final byte[] bound;

  /**
   * @param copies holds the page's copy at {@code from}
   * @param slot that the new entry takes; not 0 in an inner page
   */
  Split(ByteBuffer copies, int from, int slot, byte[] key, byte[] value) {
    this.copies = copies;
    this.from = from;
    this.inner = Page.level(copies, from) > 0;
    this.slot = slot;
    this.key = key;
    this.value = value;
    this.count = Page.count(copies, from) + 1;
    this.point = slot == count - 1 && fitsLeft(slot) ? slot : middle();
    this.bound = boundAt(point);
  }

  /** Entries, the new one included. */
  int count() {
    return count;
  }

  /** The first entry of the right page. */
  int point() {
    return point;
  }

  /** Upper bound of the left page and lower bound of the right one. */
  byte[] bound() {
    return bound;
  }

  /** Adds the entries {@code first} to {@code end - 1}. */
  void addTo(PageBuilder builder, int first, int end) {
    for (int entry = first; entry < end; entry++) {
      if (entry == slot) {
        builder.add(key, value);
      } else {
        builder.addCopied(from, entry < slot ? entry : entry - 1);
      }
    }
  }

  private boolean fitsLeft(int end) {
    int used = Page.lower(copies, from).length + boundAt(end).length;
    for (int entry = 0; entry < end; entry++) {
      used += size(entry);
    }
    return used <= Page.CAPACITY;
  }

  private int middle() {
    int total = 0;
    for (int entry = 0; entry < count; entry++) {
      total += size(entry);
    }
    int best = 1;
    int bestLarger = Integer.MAX_VALUE;
    int left = 0;
    for (int entry = 1; entry < count; entry++) {
      left += size(entry - 1);
      int larger = Math.max(left, total - left);
      if (larger < bestLarger) {
        best = entry;
        bestLarger = larger;
      }
    }
    return best;
  }

  /** At most what the entry takes afterwards: a half's prefix is no shorter than the whole's. */
  private int size(int entry) {
    if (entry == slot) {
      return Page.ENTRY_OVERHEAD + key.length - Page.prefixLength(copies, from) + value.length;
    }
    return Page.entrySize(copies, from, entry < slot ? entry : entry - 1);
  }

  private byte[] boundAt(int entry) {
    return inner ? keyOf(entry) : Tree.shortestBound(keyOf(entry - 1), keyOf(entry));
  }

  private byte[] keyOf(int entry) {
    return entry == slot ? key : Page.key(copies, from, entry < slot ? entry : entry - 1);
  }
}
