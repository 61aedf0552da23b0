package io.takofs.sim;

import io.takofs.transport.Access;
import io.takofs.transport.BufferRegion;
import java.nio.ByteBuffer;

/** Registered memory of a simulated process. */
public final class SimRegion extends BufferRegion {
  private final SimDomain domain;
  private final boolean own;
  private boolean closed;

  SimRegion(
      SimDomain domain, ByteBuffer memory, long address, int key, Access access, boolean own) {
    super(memory, address, key, access);
    this.domain = domain;
    this.own = own;
  }

  /** The one view that transfers use. */
  public ByteBuffer memory() {
    return memory;
  }

  public SimDomain domain() {
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
  public void close() {
    closed = true;
    domain.remove(this);
  }
}
