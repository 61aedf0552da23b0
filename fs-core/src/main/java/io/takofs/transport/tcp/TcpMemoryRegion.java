package io.takofs.transport.tcp;

import io.takofs.transport.Access;
import io.takofs.transport.BufferRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Direct memory with a key. Its address is a made-up one, unique in the transport: Java does not
 * tell where a buffer lies.
 *
 * <p>Thread rule: any thread.
 */
final class TcpMemoryRegion extends BufferRegion {
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final TcpProtectionDomain domain;
  private volatile boolean closed;

  /**
   * @param memory direct, position 0, limit its length
   */
  TcpMemoryRegion(TcpProtectionDomain domain, ByteBuffer memory, int key, Access access) {
    super(memory, (key & 0x7fff_ffffL) << 32, key, access);
    this.domain = domain;
  }

  TcpProtectionDomain domain() {
    return domain;
  }

  boolean isOpen() {
    return !closed;
  }

  boolean isWritable() {
    return access == Access.REMOTE_READ_WRITE || access == Access.REMOTE_ATOMIC;
  }

  boolean isReadable() {
    return access != Access.LOCAL;
  }

  /** Whether {@code size} bytes at a remote address lie inside. */
  boolean covers(long remoteAddress, int size) {
    return size >= 0
        && remoteAddress >= address()
        && remoteAddress - address() <= (long) length() - size;
  }

  /** Whether 8 aligned bytes at a remote address lie inside and may be changed atomically. */
  boolean takesAtomics(long remoteAddress) {
    return access == Access.REMOTE_ATOMIC
        && covers(remoteAddress, Long.BYTES)
        && memory.alignmentOffset(offset(remoteAddress), Long.BYTES) == 0;
  }

  int offset(long remoteAddress) {
    return (int) (remoteAddress - address());
  }

  ByteBuffer slice(int offset, int size) {
    return memory.slice(offset, size);
  }

  void putLong(int offset, long value) {
    memory.putLong(offset, value);
  }

  /** Returns the value found. */
  long compareAndSwap(int offset, long expected, long desired) {
    return (long) LONGS.compareAndExchange(memory, offset, expected, desired);
  }

  /** Returns the value before. */
  long fetchAndAdd(int offset, long addend) {
    return (long) LONGS.getAndAdd(memory, offset, addend);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      domain.remove(this);
    }
  }
}
