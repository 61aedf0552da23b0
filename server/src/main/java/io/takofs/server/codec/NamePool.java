package io.takofs.server.codec;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/**
 * One string for each user and group, found by its bytes: a page of a listing decodes thousands of
 * them, and nearly all are the same.
 *
 * <p>Thread rule: any thread; two that meet may each make a string, and both are right.
 */
final class NamePool {
  private static final int SIZE = 256;
  private static final Entry[] ENTRIES = new Entry[SIZE];

  private record Entry(byte[] bytes, String name) {}

  private NamePool() {}

  /** The UTF-8 text of {@code length} bytes from {@code from}. */
  static String get(byte[] bytes, int from, int length) {
    int to = from + length;
    int hash = length;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + bytes[i];
    }
    int slot = (hash ^ hash >>> 16) & (SIZE - 1);
    Entry entry = ENTRIES[slot];
    if (entry == null || !Arrays.equals(entry.bytes, 0, entry.bytes.length, bytes, from, to)) {
      byte[] copy = Arrays.copyOfRange(bytes, from, to);
      entry = new Entry(copy, new String(copy, UTF_8));
      ENTRIES[slot] = entry;
    }
    return entry.name;
  }
}
