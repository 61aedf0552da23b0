package io.takofs.transport.verbs;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A region of a {@link VerbsProtectionDomain}. Peers know it by its address in this process. */
final class VerbsMemoryRegion implements MemoryRegion {
  private final VerbsProtectionDomain domain;
  private final MappedMemory memory;
  private final boolean ownsMemory;
  private final ByteBuffer bytes;
  private final VerbsRegistration registration;
  private final long address;
  private final int length;
  private final int lkey;
  private final int rkey;
  private final Access access;
  private volatile boolean open = true;

  VerbsMemoryRegion(
      VerbsProtectionDomain domain,
      MappedMemory memory,
      boolean ownsMemory,
      long offset,
      int length,
      Access access,
      VerbsRegistration registration) {
    this.domain = domain;
    this.memory = memory;
    this.ownsMemory = ownsMemory;
    this.bytes = memory.slice(offset, length);
    this.registration = registration;
    this.address = memory.address() + offset;
    this.length = length;
    this.lkey = registration.lkey();
    this.rkey = registration.rkey();
    this.access = access;
  }

  /** Whether {@code size} bytes at {@code offset} may be used by queue pairs of {@code user}. */
  boolean allows(VerbsProtectionDomain user, int offset, int size) {
    return open && domain == user && offset >= 0 && size >= 0 && offset <= length - size;
  }

  /** The {@code ibv_mr}. */
  long pointer() {
    return registration.pointer();
  }

  @Override
  public ByteBuffer buffer() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public long address() {
    return address;
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
    return rkey;
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
    domain.forget(this);
    // The device first: it must never reach memory that has become somebody else's.
    registration.close();
    if (ownsMemory) {
      memory.close();
    }
  }
}
