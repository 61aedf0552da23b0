package io.takofs.server.store;

import java.nio.ByteBuffer;

/** Two neighbouring pages of one level as one. */
final class Merge {
  private final ByteBuffer left;
  private final int leftAt;
  private final ByteBuffer right;
  private final int rightAt;
  private final byte[] lower;
  private final byte[] upper;

  Merge(ByteBuffer left, int leftAt, ByteBuffer right, int rightAt) {
    this.left = left;
    this.leftAt = leftAt;
    this.right = right;
    this.rightAt = rightAt;
    this.lower = Page.lower(left, leftAt);
    this.upper = Page.upper(right, rightAt);
  }

  boolean hasEmptySide() {
    return Page.count(left, leftAt) == 0 || Page.count(right, rightAt) == 0;
  }

  /** Bytes that the merged page would fill: keys grow when they have less in common. */
  int used() {
    int prefix = Page.commonPrefix(lower, upper);
    int used = lower.length + (upper == null ? 0 : upper.length);
    used += entries(left, leftAt, prefix) + entries(right, rightAt, prefix);
    if (Page.level(right, rightAt) > 0) {
      used += Page.lower(right, rightAt).length - prefix;
    }
    return used;
  }

  private static int entries(ByteBuffer b, int at, int prefix) {
    int keys = Page.count(b, at) - (Page.level(b, at) > 0 ? 1 : 0);
    return Page.entriesUsed(b, at) + keys * (Page.prefixLength(b, at) - prefix);
  }

  /** Writes the merged page over {@code b}, which may be one of the two. */
  void write(PageBuilder builder, int tree, ByteBuffer b, int at) {
    int level = Page.level(left, leftAt);
    int leftCopy = builder.copy(0, left, leftAt);
    int rightCopy = builder.copy(1, right, rightAt);
    builder.begin(b, at, tree, level, lower, upper);
    addAll(builder, leftCopy);
    addAll(builder, rightCopy);
  }

  private static void addAll(PageBuilder builder, int copy) {
    int count = Page.count(builder.copies(), copy);
    for (int slot = 0; slot < count; slot++) {
      builder.addCopied(copy, slot);
    }
  }
}
