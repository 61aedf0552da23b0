package io.takofs.sim;

import java.util.Random;

/**
 * The order in which the bytes of one transfer move: pieces of a cache line, of a packet, or of any
 * size, in order or shuffled, in a few groups of pieces that move at different times.
 */
final class Placement {
  private static final int CACHE_LINE = 64;
  private static final int PACKET = 4096;
  private static final int GROUPS_MAX = 6;

  private final int length;
  private final int pieceSize;
  private final int[] order;
  private final int groups;

  Placement(Random random, int length) {
    this.length = length;
    this.pieceSize = pieceSize(random, length);
    this.order = new int[(length + pieceSize - 1) / pieceSize];
    for (int i = 0; i < order.length; i++) {
      order[i] = i;
    }
    if (random.nextInt(4) != 0) {
      shuffle(random);
    }
    this.groups = Math.min(order.length, 1 + random.nextInt(GROUPS_MAX));
  }

  private static int pieceSize(Random random, int length) {
    return switch (random.nextInt(3)) {
      case 0 -> CACHE_LINE;
      case 1 -> PACKET;
      default -> 1 + random.nextInt(Math.max(1, length));
    };
  }

  private void shuffle(Random random) {
    for (int i = order.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int piece = order[i];
      order[i] = order[other];
      order[other] = piece;
    }
  }

  /** Moments at which pieces move; 0 when there is nothing to move. */
  int groups() {
    return groups;
  }

  /** Tells which ranges of the transfer move at moment {@code group}. */
  void forEachRange(int group, Range range) {
    int from = (int) ((long) order.length * group / groups);
    int to = (int) ((long) order.length * (group + 1) / groups);
    for (int i = from; i < to; i++) {
      int start = order[i] * pieceSize;
      range.accept(start, Math.min(pieceSize, length - start));
    }
  }

  /** Receives ranges of a transfer. */
  @FunctionalInterface
  interface Range {
    void accept(int offset, int length);
  }
}
