package io.takofs.sim;

import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Registered memory of a simulated process. */
final class SimRegion implements MemoryRegion {
  private final SimDomain domain;
  private final ByteBuffer memory;
  private final long address;
  private final int key;
  private final Access access;
  private final boolean own;
  private boolean closed;

  SimRegion(
      SimDomain domain, ByteBuffer memory, long address, int key, Access access, boolean own) {
    this.domain = domain;
    this.memory = memory;
    this.address = address;
    this.key = key;
    this.access = access;
    this.own = own;
  }

  @Override
  public ByteBuffer buffer() {
    return memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The one view that transfers use. */
  ByteBuffer memory() {
    return memory;
  }

  SimDomain domain() {
    return domain;
  }

  /** Whether the memory is the region's and not a file's. */
  boolean isOwn() {
    return own;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public int length() {
    return memory.capacity();
  }

  @Override
  public int lkey() {
    return key;
  }

  @Override
  public int rkey() {
    return key;
  }

  @Override
  public Access access() {
    return access;
  }

  @Override
  public void close() {
    closed = true;
    domain.remove(this);
  }
}
