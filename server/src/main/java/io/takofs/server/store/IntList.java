package io.takofs.server.store;

import java.util.Arrays;

/** A growing list of page numbers, used as a stack. */
final class IntList {
  private int[] items = new int[16];
  private int size;

  void add(int item) {
    if (size == items.length) {
      items = Arrays.copyOf(items, size + size / 2);
    }
    items[size++] = item;
  }

  int removeLast() {
    return items[--size];
  }

  int get(int index) {
    return items[index];
  }

  int size() {
    return size;
  }

  void clear() {
    size = 0;
  }
}
