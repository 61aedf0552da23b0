package io.takofs.transport.staging;

import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A region of mapped memory, of which native code gets addresses.
 *
 * <p>Thread rule: any thread.
 */
public abstract class MappedRegion implements MemoryRegion {
  private final ProtectionDomain domain;
  private final MappedRange range;
  private final ByteBuffer bytes;
  private final Access access;
  private final int lkey;
  private final int rkey;
  private volatile boolean open = true;

  /**
   * @param rkey 0 for a region that peers cannot address
   */
  protected MappedRegion(
      ProtectionDomain domain, MappedRange range, Access access, int lkey, int rkey) {
    this.domain = domain;
    this.range = range;
    this.bytes = range.memory().slice(range.offset(), range.length());
    this.access = access;
    this.lkey = lkey;
    this.rkey = rkey;
  }

  /** Whether {@code size} bytes at {@code offset} may be used by queue pairs of {@code user}. */
  public final boolean allows(ProtectionDomain user, int offset, int size) {
    return open && domain == user && offset >= 0 && size >= 0 && offset <= range.length() - size;
  }

  /** Address of the first byte in this process. */
  public final long localAddress() {
    return range.address();
  }

  @Override
  public final ByteBuffer buffer() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public final int length() {
    return range.length();
  }

  @Override
  public final int lkey() {
    return lkey;
  }

  @Override
  public final int rkey() {
    return rkey;
  }

  @Override
  public final Access access() {
    return access;
  }

  /** Takes the region from domain, device and peers, before its memory goes. Once. */
  protected abstract void withdraw();

  @Override
  public final synchronized void close() {
    if (!open) {
      return;
    }
    open = false;
    withdraw();
    if (range.owned()) {
      range.memory().close();
    }
  }
}
