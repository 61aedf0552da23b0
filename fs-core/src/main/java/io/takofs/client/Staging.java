package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Registered memory of a client, kept for the next who needs it: registering takes longer than most
 * transfers.
 *
 * <p>Thread rule: any thread.
 */
final class Staging implements AutoCloseable {
  /** Unused bytes that are kept. */
  private static final long IDLE_MAX = 32L << 20;

  /** Regions are whole pages. */
  private static final int PAGE = 4096;

  private final ProtectionDomain domain;
  private final Map<Integer, ArrayDeque<MemoryRegion>> idle = new HashMap<>();
  private long idleBytes;
  private boolean closed;

  Staging(ProtectionDomain domain) {
    this.domain = domain;
  }

  /** Memory of at least {@code wanted} bytes, with anything in it. */
  MemoryRegion take(int wanted) throws TakoException {
    int length = (wanted + PAGE - 1) / PAGE * PAGE;
    synchronized (this) {
      ArrayDeque<MemoryRegion> regions = idle.get(length);
      if (regions != null && !regions.isEmpty()) {
        idleBytes -= length;
        return regions.pop();
      }
    }
    try {
      return domain.allocate(length, Access.LOCAL);
    } catch (IOException e) {
      throw new TakoException(
          Status.NO_SPACE, "no memory for a buffer of " + length + " bytes: " + e.getMessage(), e);
    }
  }

  /** Gives {@code region} back; no transfer may use it any more. */
  void release(MemoryRegion region) {
    synchronized (this) {
      if (!closed && idleBytes + region.length() <= IDLE_MAX) {
        idle.computeIfAbsent(region.length(), length -> new ArrayDeque<>()).push(region);
        idleBytes += region.length();
        return;
      }
    }
    region.close();
  }

  @Override
  public synchronized void close() {
    closed = true;
    idle.values().forEach(regions -> regions.forEach(MemoryRegion::close));
    idle.clear();
  }
}
