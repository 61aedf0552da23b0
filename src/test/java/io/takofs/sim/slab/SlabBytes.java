package io.takofs.sim.slab;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/** The bytes that a grant writes: each cell has one content per grant. */
final class SlabBytes {
  private SlabBytes() {}

  static int offset(int unit, int cell) {
    return unit * Layout.UNIT_SIZE + cell * SlabUnit.CELL_BYTES;
  }

  static void fill(ByteBuffer to, int at, long grant, int cell) {
    for (int i = 0; i < SlabUnit.CELL_BYTES; i += Long.BYTES) {
      to.putLong(at + i, word(grant, cell, i));
    }
  }

  /** Index of the first byte of the cell that another wrote, or -1. */
  static int mismatch(ByteBuffer in, int at, long grant, int cell) {
    for (int i = 0; i < SlabUnit.CELL_BYTES; i += Long.BYTES) {
      if (in.getLong(at + i) != word(grant, cell, i)) {
        return i;
      }
    }
    return -1;
  }

  /** The number of the grant that wrote the word at {@code at}, if one wrote it. */
  static long writer(ByteBuffer in, int at, int cell, int offset) {
    long mixed = in.getLong(at + offset) ^ ((long) cell << 32) ^ offset ^ 0x0101010101010101L;
    return mixed * 0xF1DE83E19937733DL;
  }

  private static long word(long grant, int cell, int offset) {
    return (grant * 0x9E3779B97F4A7C15L) ^ ((long) cell << 32) ^ offset ^ 0x0101010101010101L;
  }
}
