package io.takofs.transport.tcp;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

/**
 * The regions that its pairs' peers may name.
 *
 * <p>Thread rule: any thread.
 */
final class TcpProtectionDomain implements ProtectionDomain {
  private static final int PAGE = 4096;

  private final IntSupplier keys;
  private final TransportCounters counters;
  private final Map<Integer, TcpMemoryRegion> regions = new ConcurrentHashMap<>();
  private final Set<TcpQueuePair> pairs = ConcurrentHashMap.newKeySet();

  /**
   * @param keys gives keys that no other region of the transport has
   */
  TcpProtectionDomain(IntSupplier keys, TransportCounters counters) {
    this.keys = keys;
    this.counters = counters;
  }

  @Override
  public MemoryRegion allocate(int length, Access access) {
    checkLength(length);
    // Whole pages, and one for the alignment. Zeroing touches every one.
    int pages = (length + PAGE - 1) / PAGE + 1;
    ByteBuffer memory = ByteBuffer.allocateDirect(pages * PAGE);
    return add(memory.alignedSlice(PAGE).slice(0, length), access);
  }

  @Override
  public MemoryRegion register(MappedMemory memory, long offset, int length, Access access) {
    checkLength(length);
    return add(memory.slice(offset, length), access);
  }

  private static void checkLength(int length) {
    Invariant.check(
        length > 0 && length <= Layout.ARENA_SIZE,
        () -> "a region of " + length + " bytes; it has 1 to " + Layout.ARENA_SIZE);
  }

  private TcpMemoryRegion add(ByteBuffer memory, Access access) {
    TcpMemoryRegion region = new TcpMemoryRegion(this, memory, keys.getAsInt(), access);
    regions.put(region.rkey(), region);
    counters.add(Counter.REGIONS, 1);
    return region;
  }

  /** The open region with that key in this domain, or null. */
  TcpMemoryRegion find(int rkey) {
    return regions.get(rkey);
  }

  void add(TcpQueuePair pair) {
    pairs.add(pair);
  }

  void remove(TcpQueuePair pair) {
    pairs.remove(pair);
  }

  /** Forgets a closed region, and returns when no pair is in the midst of applying to it. */
  void remove(TcpMemoryRegion region) {
    if (regions.remove(region.rkey()) != null) {
      counters.add(Counter.REGIONS, -1);
    }
    for (TcpQueuePair pair : pairs) {
      pair.regionClosed(region);
    }
  }

  @Override
  public void close() {
    regions.values().forEach(TcpMemoryRegion::close);
  }
}
