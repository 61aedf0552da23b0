package io.takofs.bench.log;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The head of a request: Tako's header of a call, then where the payload belongs and of what kind
 * it is. The header's CRC covers the head alone, because frames have checksums of their own, which
 * are verified in any case.
 *
 * <p>Thread rule: one thread.
 */
final class FrameCall {
  private static final int ADDRESS = Layout.RPC_HEADER_SIZE;
  private static final int RKEY = ADDRESS + Long.BYTES;
  private static final int KIND = RKEY + Integer.BYTES;

  /** Bytes of a head. */
  static final int HEAD = KIND + Integer.BYTES;

  /** Bytes of memory, which belong to an address of the member's. */
  static final int BYTES = 1;

  /** A request of Protocol Buffers. */
  static final int REQUEST = 2;

  /** Requests under way at most, from one caller. */
  static final int SLOTS = 64;

  /** Bytes of a payload at most: a whole write of a leader fits the slots. */
  static final int PAYLOAD_MAX = 1 << 17;

  /** Bytes of a slot for a request. */
  static final int SLOT_SIZE = 4096 + PAYLOAD_MAX;

  /** Bytes of a reply with a payload at most. */
  static final int REPLY_MAX = 1 << 16;

  private static final int SLOT_MASK = 0xff;
  private static final int REFUSED = 1 << 8;
  private static final int SIZE_SHIFT = 9;

  private final CRC32C crc = new CRC32C();
  private final ByteBuffer memory;
  private final ByteBuffer view;

  /**
   * @param memory of all slots
   */
  FrameCall(ByteBuffer memory) {
    this.memory = memory.order(ByteOrder.LITTLE_ENDIAN);
    this.view = memory.duplicate();
  }

  /** Writes the head at {@code at}. */
  void seal(
      int at, int length, long term, long sequence, long grant, int kind, long address, int rkey) {
    memory.putInt(at + Layout.RPC_HEADER_LENGTH_OFFSET, length);
    memory.putLong(at + Layout.RPC_HEADER_CLIENT_ID_OFFSET, term);
    memory.putLong(at + Layout.RPC_HEADER_SEQUENCE_OFFSET, sequence);
    memory.putLong(at + Layout.RPC_HEADER_EPOCH_OFFSET, grant);
    memory.putLong(at + ADDRESS, address);
    memory.putInt(at + RKEY, rkey);
    memory.putInt(at + KIND, kind);
    memory.putInt(at + Layout.RPC_HEADER_CRC32C_OFFSET, checksum(at));
  }

  /** Whether the head at {@code at} is whole and {@code byteCount} bytes are its message. */
  boolean isWhole(int at, int byteCount) {
    return length(at) == byteCount - HEAD
        && memory.getInt(at + Layout.RPC_HEADER_CRC32C_OFFSET) == checksum(at);
  }

  private int checksum(int at) {
    crc.reset();
    view.limit(at + HEAD).position(at + Layout.RPC_HEADER_CLIENT_ID_OFFSET);
    crc.update(view);
    return (int) crc.getValue();
  }

  int length(int at) {
    return memory.getInt(at + Layout.RPC_HEADER_LENGTH_OFFSET);
  }

  long term(int at) {
    return memory.getLong(at + Layout.RPC_HEADER_CLIENT_ID_OFFSET);
  }

  long grant(int at) {
    return memory.getLong(at + Layout.RPC_HEADER_EPOCH_OFFSET);
  }

  long address(int at) {
    return memory.getLong(at + ADDRESS);
  }

  int rkey(int at) {
    return memory.getInt(at + RKEY);
  }

  int kind(int at) {
    return memory.getInt(at + KIND);
  }

  /** The immediate of a reply: it is all of one that says yes or no. */
  static int reply(int slot, boolean refused, int size) {
    return slot | (refused ? REFUSED : 0) | size << SIZE_SHIFT;
  }

  static int slot(int immediate) {
    return immediate & SLOT_MASK;
  }

  static boolean isRefused(int immediate) {
    return (immediate & REFUSED) != 0;
  }

  /** Bytes of the reply's payload. */
  static int size(int immediate) {
    return immediate >>> SIZE_SHIFT;
  }
}
