package io.takofs.transport.tcp;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/**
 * Flyweight over one frame header, {@code TCP_FRAME} of layout.def.
 *
 * <p>Thread rule: one thread.
 */
final class TcpFrame {
  private ByteBuffer bytes;
  private int at;

  /** Looks at {@link Layout#TCP_FRAME_SIZE} little-endian bytes from {@code position}. */
  TcpFrame wrap(ByteBuffer buffer, int position) {
    bytes = buffer;
    at = position;
    return this;
  }

  /** Writes all fields; the ones that an opcode does not use are zero. */
  void set(
      int opcode,
      boolean acknowledge,
      int length,
      int rkey,
      int immediate,
      long address,
      long operand1,
      long operand2) {
    bytes.put(at + Layout.TCP_FRAME_OPCODE_OFFSET, (byte) opcode);
    bytes.put(at + Layout.TCP_FRAME_ACKNOWLEDGE_OFFSET, (byte) (acknowledge ? 1 : 0));
    bytes.putShort(at + Layout.TCP_FRAME_PADDING_OFFSET, (short) 0);
    bytes.putInt(at + Layout.TCP_FRAME_LENGTH_OFFSET, length);
    bytes.putInt(at + Layout.TCP_FRAME_RKEY_OFFSET, rkey);
    bytes.putInt(at + Layout.TCP_FRAME_IMMEDIATE_OFFSET, immediate);
    bytes.putLong(at + Layout.TCP_FRAME_ADDRESS_OFFSET, address);
    bytes.putLong(at + Layout.TCP_FRAME_OPERAND1_OFFSET, operand1);
    bytes.putLong(at + Layout.TCP_FRAME_OPERAND2_OFFSET, operand2);
  }

  int opcode() {
    return bytes.get(at + Layout.TCP_FRAME_OPCODE_OFFSET);
  }

  /** Whether the bytes that have few legal values have one of them. */
  boolean isWellFormed() {
    return (bytes.get(at + Layout.TCP_FRAME_ACKNOWLEDGE_OFFSET) & ~1) == 0
        && bytes.getShort(at + Layout.TCP_FRAME_PADDING_OFFSET) == 0
        && length() >= 0;
  }

  boolean acknowledge() {
    return bytes.get(at + Layout.TCP_FRAME_ACKNOWLEDGE_OFFSET) != 0;
  }

  int length() {
    return bytes.getInt(at + Layout.TCP_FRAME_LENGTH_OFFSET);
  }

  int rkey() {
    return bytes.getInt(at + Layout.TCP_FRAME_RKEY_OFFSET);
  }

  int immediate() {
    return bytes.getInt(at + Layout.TCP_FRAME_IMMEDIATE_OFFSET);
  }

  long address() {
    return bytes.getLong(at + Layout.TCP_FRAME_ADDRESS_OFFSET);
  }

  long operand1() {
    return bytes.getLong(at + Layout.TCP_FRAME_OPERAND1_OFFSET);
  }

  long operand2() {
    return bytes.getLong(at + Layout.TCP_FRAME_OPERAND2_OFFSET);
  }
}
