package io.takofs.server.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Builds one stored value. Fixed-width numbers are big-endian, so that in keys they sort as
 * unsigned numbers do; the others are variable-length, seven bits a byte, low bits first.
 *
 * <p>Thread rule: one thread.
 */
public final class ByteWriter {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private byte[] bytes;
  private int size;

  /** {@code expected} bytes fit without growing. */
  public ByteWriter(int expected) {
    bytes = new byte[expected];
  }

  /** Appends the low eight bits. */
  public ByteWriter u8(int value) {
    room(1);
    bytes[size++] = (byte) value;
    return this;
  }

  /** Appends the low sixteen bits. */
  public ByteWriter u16(int value) {
    return u8(value >>> 8).u8(value);
  }

  /** Appends four bytes. */
  public ByteWriter u32(int value) {
    return u16(value >>> 16).u16(value);
  }

  /** Appends eight bytes. */
  public ByteWriter u64(long value) {
    room(Long.BYTES);
    LONG.set(bytes, size, value);
    size += Long.BYTES;
    return this;
  }

  /** Appends one to ten bytes; small unsigned numbers take fewer. */
  public ByteWriter variable(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      u8((int) (rest | 0x80));
      rest >>>= 7;
    }
    return u8((int) rest);
  }

  /** Appends a number near zero on either side. */
  public ByteWriter signed(long value) {
    return variable((value << 1) ^ (value >> 63));
  }

  /** Appends the bytes as they are. */
  public ByteWriter raw(byte[] value) {
    room(value.length);
    System.arraycopy(value, 0, bytes, size, value.length);
    size += value.length;
    return this;
  }

  /** Appends a length and the bytes. */
  public ByteWriter sized(byte[] value) {
    return variable(value.length).raw(value);
  }

  /** Bytes that were appended. */
  public int size() {
    return size;
  }

  /** The appended bytes. */
  public byte[] toBytes() {
    return size == bytes.length ? bytes : Arrays.copyOf(bytes, size);
  }

  private void room(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
    }
  }
}
