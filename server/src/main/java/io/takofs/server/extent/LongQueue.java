package io.takofs.server.extent;

/** A queue of numbers, 8 bytes each, for there may be millions. */
final class LongQueue {
  private static final int SIZE_MIN = 16;

  private long[] items = new long[SIZE_MIN]; // a power of two long
  private int first;
  private int size;

  int size() {
    return size;
  }

  void add(long item) {
    if (size == items.length) {
      resize(2 * size);
    }
    items[(first + size) & (items.length - 1)] = item;
    size++;
  }

  /** The oldest is 0, the one that came after it 1; it is there. */
  long get(int position) {
    return items[(first + position) & (items.length - 1)];
  }

  long removeFirst() {
    long item = items[first];
    first = (first + 1) & (items.length - 1);
    size--;
    if (items.length > SIZE_MIN && size < items.length / 4) {
      resize(items.length / 2);
    }
    return item;
  }

  void removeLast() {
    size--;
  }

  private void resize(int length) {
    long[] all = new long[length];
    int unwrapped = Math.min(size, items.length - first);
    System.arraycopy(items, first, all, 0, unwrapped);
    System.arraycopy(items, 0, all, unwrapped, size - unwrapped);
    items = all;
    first = 0;
  }
}
