package io.takofs.transport.shm;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A region of a {@link ShmProtectionDomain}. */
final class ShmMemoryRegion implements MemoryRegion {
  private final ShmProtectionDomain domain;
  private final MappedMemory memory;
  private final boolean ownsMemory;
  private final ByteBuffer bytes;
  private final long localAddress;
  private final int length;
  private final Access access;
  private final int lkey;
  private final Export export;
  private volatile boolean open = true;

  /** How peers name the region; key 0 for one they cannot address. */
  record Export(int rkey, long address) {}

  ShmMemoryRegion(
      ShmProtectionDomain domain,
      MappedMemory memory,
      boolean ownsMemory,
      long offset,
      int length,
      Access access,
      int lkey,
      Export export) {
    this.domain = domain;
    this.memory = memory;
    this.ownsMemory = ownsMemory;
    this.bytes = memory.slice(offset, length);
    this.localAddress = memory.address() + offset;
    this.length = length;
    this.access = access;
    this.lkey = lkey;
    this.export = export;
  }

  /** Whether {@code size} bytes at {@code offset} may be used by queue pairs of {@code user}. */
  boolean allows(ShmProtectionDomain user, int offset, int size) {
    return open && domain == user && offset >= 0 && size >= 0 && offset <= length - size;
  }

  /** Address of the first byte in this process. */
  long localAddress() {
    return localAddress;
  }

  @Override
  public ByteBuffer buffer() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public long address() {
    return export.address();
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return export.rkey();
  }

  @Override
  public Access access() {
    return access;
  }

  @Override
  public synchronized void close() {
    if (!open) {
      return;
    }
    open = false;
    domain.withdraw(this);
    if (ownsMemory) {
      memory.close();
    }
  }
}
