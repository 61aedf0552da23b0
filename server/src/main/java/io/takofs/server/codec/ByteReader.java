package io.takofs.server.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads what {@link ByteWriter} wrote. Stored bytes are the server's own: reading beyond the end is
 * a bug and fails as one.
 *
 * <p>Thread rule: one thread.
 */
public final class ByteReader {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

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
    int value = (int) INT.get(bytes, position);
    position += Integer.BYTES;
    return value;
  }

  /** Next eight bytes. */
  public long u64() {
    long value = (long) LONG.get(bytes, position);
    position += Long.BYTES;
    return value;
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

  /** Next name of a user or group with its length before it. */
  public String name() {
    int length = (int) variable();
    String name = NamePool.get(bytes, position, length);
    position += length;
    return name;
  }

  /** Whether nothing is left. */
  public boolean isAtEnd() {
    return position == bytes.length;
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
