package io.takofs.server.codec;

import java.util.Arrays;

/**
 * Reads what {@link ByteWriter} wrote. Stored bytes are the server's own: reading beyond the end is
 * a bug and fails as one.
 *
 * <p>Thread rule: one thread.
 */
public final class ByteReader {
  private final byte[] bytes;
  private int position;

  /** Starts at the first byte. */
  public ByteReader(byte[] bytes) {
    this(bytes, 0);
  }

  /** Starts at {@code position}. */
  public ByteReader(byte[] bytes, int position) {
    this.bytes = bytes;
    this.position = position;
  }

  /** Next byte, unsigned. */
  public int u8() {
    return bytes[position++] & 0xff;
  }

  /** Next two bytes. */
  public int u16() {
    return u8() << 8 | u8();
  }

  /** Next four bytes. */
  public int u32() {
    return u16() << 16 | u16();
  }

  /** Next eight bytes. */
  public long u64() {
    return (long) u32() << 32 | (u32() & 0xffff_ffffL);
  }

  /** Next variable-length number. */
  public long variable() {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      int next = u8();
      value |= (long) (next & 0x7f) << shift;
      if (next < 0x80) {
        return value;
      }
    }
  }

  /** Next number written by {@link ByteWriter#signed}. */
  public long signed() {
    long value = variable();
    return (value >>> 1) ^ -(value & 1);
  }

  /** Next bytes with their length before them. */
  public byte[] sized() {
    return raw((int) variable());
  }

  /** All that is left. */
  public byte[] rest() {
    return raw(bytes.length - position);
  }

  private byte[] raw(int length) {
    byte[] value = Arrays.copyOfRange(bytes, position, position + length);
    position += length;
    return value;
  }
}
