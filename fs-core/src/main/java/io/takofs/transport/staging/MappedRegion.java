package io.takofs.transport.staging;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
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
  private static final int PAGE = 4096;

  private final ProtectionDomain domain;
  private final MappedMemory memory;
  private final boolean ownsMemory;
  private final ByteBuffer bytes;
  private final long localAddress;
  private final int length;
  private final Access access;
  private final int lkey;
  private final int rkey;
  private volatile boolean open = true;

  /**
   * {@code length} bytes at {@code offset} of {@code memory}.
   *
   * @param ownsMemory whether the memory is closed with the region
   */
  protected MappedRegion(
      ProtectionDomain domain,
      MappedMemory memory,
      boolean ownsMemory,
      long offset,
      int length,
      Access access,
      int lkey,
      int rkey) {
    this.domain = domain;
    this.memory = memory;
    this.ownsMemory = ownsMemory;
    this.bytes = memory.slice(offset, length);
    this.localAddress = memory.address() + offset;
    this.length = length;
    this.access = access;
    this.lkey = lkey;
    this.rkey = rkey;
  }

  /**
   * Says what a region of this many bytes lacks.
   *
   * @throws TakoException INVALID_ARGUMENT when no region has so many
   */
  public static void checkLength(int length) throws TakoException {
    if (length <= 0 || length > Layout.ARENA_SIZE) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "a region has 1 to " + Layout.ARENA_SIZE + " bytes, not " + length);
    }
  }

  /** As {@link #checkLength(int)}, of a region within {@code memory}. */
  public static void checkWithin(MappedMemory memory, long offset, int length)
      throws TakoException {
    checkLength(length);
    Invariant.check(
        offset >= 0 && offset <= memory.length() - length,
        () -> "region of " + length + " bytes at " + offset + " of " + memory.length());
  }

  /** Bytes of the pages that {@code length} bytes take. */
  public static long pages(int length) {
    return (length + (long) PAGE - 1) & -PAGE;
  }

  /** Whether {@code size} bytes at {@code offset} may be used by queue pairs of {@code user}. */
  public final boolean allows(ProtectionDomain user, int offset, int size) {
    return open && domain == user && offset >= 0 && size >= 0 && offset <= length - size;
  }

  /** Address of the first byte in this process. */
  public final long localAddress() {
    return localAddress;
  }

  @Override
  public final ByteBuffer buffer() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public final int length() {
    return length;
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
    if (ownsMemory) {
      memory.close();
    }
  }
}
