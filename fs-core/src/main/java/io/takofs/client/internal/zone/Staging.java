package io.takofs.client.internal.zone;

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
 * Registered memory of a client over one transport, within its budget. Released memory is kept for
 * the next use until bytes are short, because registering takes longer than most transfers.
 *
 * <p>Thread rule: any thread.
 */
public final class Staging implements AutoCloseable {
  /** Unused bytes that are kept. */
  private static final long IDLE_MAX = 32L << 20;

  /** Regions are whole pages. */
  private static final int PAGE = 4096;

  private final ProtectionDomain domain;
  private final MemoryBudget budget;
  private final Runnable trimmer = this::closeIdle;
  private final Map<Integer, ArrayDeque<MemoryRegion>> idle = new HashMap<>();
  private long idleBytes;
  private boolean closed;

  Staging(ProtectionDomain domain, MemoryBudget budget) {
    this.domain = domain;
    this.budget = budget;
    budget.onShortage(trimmer);
  }

  /** The byte limit of {@link #tryTake}. */
  public MemoryBudget budget() {
    return budget;
  }

  /**
   * Memory of at least {@code wanted} bytes, with anything in it; null when there is none left for
   * what can be done without.
   */
  public MemoryRegion tryTake(int wanted) throws TakoException {
    return take(wanted, false);
  }

  /** As {@link #tryTake}, for who cannot go on otherwise. */
  public MemoryRegion tryTakeNeeded(int wanted) throws TakoException {
    return take(wanted, true);
  }

  private MemoryRegion take(int wanted, boolean needed) throws TakoException {
    int length = pages(wanted);
    MemoryRegion kept = takeIdle(length);
    if (kept != null) {
      return kept;
    }
    boolean reserved = needed ? budget.reserveNeeded(length) : budget.reserveUseful(length);
    return reserved ? allocate(length) : null;
  }

  /** Memory in exchange for what is released at once, or very little, whatever the budget says. */
  public MemoryRegion exchange(int wanted) throws TakoException {
    int length = pages(wanted);
    MemoryRegion kept = takeIdle(length);
    if (kept == null) {
      budget.exchange(length);
      kept = allocate(length);
    }
    if (kept == null) {
      throw new TakoException(
          Status.NO_SPACE,
          "the JVM has no direct memory for a buffer of "
              + length
              + " bytes; raise -XX:MaxDirectMemorySize or lower fs.tako.client.memory.max");
    }
    return kept;
  }

  private static int pages(int wanted) {
    return (wanted + PAGE - 1) / PAGE * PAGE;
  }

  private synchronized MemoryRegion takeIdle(int length) {
    ArrayDeque<MemoryRegion> regions = idle.get(length);
    if (regions == null || regions.isEmpty()) {
      return null;
    }
    idleBytes -= length;
    return regions.pop();
  }

  /** Allocates what was reserved; null, and nothing is, when the JVM gives no more memory. */
  private MemoryRegion allocate(int length) throws TakoException {
    MemoryRegion region = null;
    try {
      region = domain.allocate(length, Access.LOCAL);
      return region;
    } catch (IOException e) {
      throw new TakoException(
          Status.NO_SPACE, "no memory for a buffer of " + length + " bytes: " + e.getMessage(), e);
    } catch (OutOfMemoryError e) {
      return null; // of direct memory, which the JVM limits: as good as a budget
    } finally {
      if (region == null) {
        budget.release(length);
      }
    }
  }

  /** Gives {@code region} back; no transfer may use it any more. */
  void release(MemoryRegion region) {
    synchronized (this) {
      if (!closed && idleBytes + region.length() <= Math.min(IDLE_MAX, budget.max() / 4)) {
        idle.computeIfAbsent(region.length(), length -> new ArrayDeque<>()).push(region);
        idleBytes += region.length();
        return;
      }
    }
    close(region);
  }

  private void close(MemoryRegion region) {
    int length = region.length();
    region.close();
    budget.release(length);
  }

  private synchronized void closeIdle() {
    idle.values().forEach(regions -> regions.forEach(this::close));
    idle.clear();
    idleBytes = 0;
  }

  @Override
  public synchronized void close() {
    closed = true;
    closeIdle();
    budget.forget(trimmer);
  }
}
