package io.takofs.server.store;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Splits a page while an entry joins it. An entry that joins at the end begins a new page, so that
 * keys that come in order fill their pages; and so does one that joins at the end of a run of keys
 * alike, as a new name does that is last in its directory. Else both halves get about the same
 * bytes.
 */
final class Split {
  /** Bytes more that the keys of a run have in common than they have with what follows. */
  private static final int RUN_PREFIX = 4;

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
    this.point = endsRun() ? behindRun() : middle();
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

  private boolean endsRun() {
    if (slot == 0 || slot == count - 1) {
      return slot > 0;
    }
    return !inner && common(key, keyOf(slot - 1)) >= common(key, keyOf(slot + 1)) + RUN_PREFIX;
  }

  private static int common(byte[] a, byte[] b) {
    int mismatch = Arrays.mismatch(a, b);
    return mismatch < 0 ? a.length : mismatch;
  }

  /**
   * The split position at which a continuing run fills its pages: after the new entry, which sets
   * the keys that follow apart, or before it when those are few.
   */
  private int behindRun() {
    int left = 0;
    int right = 0;
    for (int entry = 0; entry < count; entry++) {
      if (entry <= slot) {
        left += size(entry);
      } else {
        right += size(entry);
      }
    }
    if (Math.min(left, right) >= Page.CAPACITY / 4 && fits(slot + 1)) {
      return slot + 1;
    }
    if (right < Page.CAPACITY / 4) {
      // A full page may lack the bytes for its new bound: an entry moves on then.
      for (int at = slot; at > 0 && at >= slot - 1; at--) {
        if (fits(at)) {
          return at;
        }
      }
    }
    return middle();
  }

  /** Whether both pages hold their entries and bounds when the right one begins with {@code at}. */
  private boolean fits(int at) {
    byte[] upper = Page.upper(copies, from);
    int between = boundAt(at).length;
    int left = Page.lower(copies, from).length + between;
    int right = between + (upper == null ? 0 : upper.length);
    for (int entry = 0; entry < count; entry++) {
      if (entry < at) {
        left += size(entry);
      } else {
        right += size(entry);
      }
    }
    return left <= Page.CAPACITY && right <= Page.CAPACITY;
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
