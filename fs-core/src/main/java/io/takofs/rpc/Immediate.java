package io.takofs.rpc;

import io.takofs.layout.Layout;

/**
 * The 32 bits that travel with a message: {@code kind:3 | gen:4 | slot:9 | len64:12 | reserved:4},
 * from the high bits down. The queue pair names the sender, so these need not.
 */
final class Immediate {
  static final int REQUEST = 1;
  static final int REPLY = 2;

  /** Unit of the length, bytes. */
  static final int LENGTH_UNIT = 64;

  /** Generations run from 0 to this and start over. */
  static final int GENERATION_MASK = 0xf;

  private Immediate() {}

  /** Packs; {@code length} is that of the whole message in bytes, header included. */
  static int pack(int kind, int generation, int slot, int length) {
    return kind << 29
        | (generation & GENERATION_MASK) << 25
        | slot << 16
        | ((length + LENGTH_UNIT - 1) / LENGTH_UNIT) << 4;
  }

  static int kind(int immediate) {
    return immediate >>> 29;
  }

  static int generation(int immediate) {
    return immediate >>> 25 & GENERATION_MASK;
  }

  static int slot(int immediate) {
    return immediate >>> 16 & 0x1ff;
  }

  /** Length in units of {@link #LENGTH_UNIT}. */
  static int length64(int immediate) {
    return immediate >>> 4 & 0xfff;
  }

  static int reserved(int immediate) {
    return immediate & 0xf;
  }

  /** The fault of an immediate that came with {@code byteCount} bytes, or null when nothing is. */
  static String fault(int immediate, int kind, int slots, int slotSize, int byteCount) {
    if (kind(immediate) != kind) {
      return "kind " + kind(immediate) + " where " + kind + " is due";
    }
    if (reserved(immediate) != 0) {
      return "reserved bits " + reserved(immediate);
    }
    if (slot(immediate) >= slots) {
      return "slot " + slot(immediate) + " of " + slots;
    }
    if (byteCount < Layout.RPC_HEADER_SIZE || byteCount > slotSize) {
      return byteCount + " bytes in a slot of " + slotSize;
    }
    if (length64(immediate) != (byteCount + LENGTH_UNIT - 1) / LENGTH_UNIT) {
      return "length " + length64(immediate) + " x 64 for " + byteCount + " bytes";
    }
    return null;
  }
}
