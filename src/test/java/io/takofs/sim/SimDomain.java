package io.takofs.sim;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.MemoryWindow;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.TransportCounters.Counter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Regions that belong together, by key. */
final class SimDomain implements ProtectionDomain {
  private final SimTransport transport;
  private final Map<Integer, SimRegion> regions = new TreeMap<>();
  private final Map<Integer, SimWindow.Binding> bindings = new TreeMap<>();

  SimDomain(SimTransport transport) {
    this.transport = transport;
  }

  @Override
  public MemoryRegion allocate(int length, Access access) {
    return add(transport.network().takeMemory(length), access, null, 0);
  }

  @Override
  public MemoryRegion register(MappedMemory memory, long offset, int length, Access access) {
    return add(memory.slice(offset, length), access, memory, Math.toIntExact(offset));
  }

  void count(Counter counter, int amount) {
    transport.counters().add(counter, amount);
  }

  private SimRegion add(ByteBuffer memory, Access access, MappedMemory file, int fileOffset) {
    SimRegion region =
        new SimRegion(
            this,
            memory.order(ByteOrder.LITTLE_ENDIAN),
            transport.nextAddress(memory.capacity()),
            transport.nextKey(),
            access,
            file,
            fileOffset);
    regions.put(region.rkey(), region);
    count(Counter.REGIONS, 1);
    return region;
  }

  /** The region that peers address by {@code rkey}, or null. */
  SimRegion region(int rkey) {
    return regions.get(rkey);
  }

  @Override
  public MemoryWindow allocateWindow() {
    return new SimWindow(this);
  }

  int nextKey() {
    return transport.nextKey();
  }

  void bind(int rkey, SimWindow.Binding binding) {
    bindings.put(rkey, binding);
  }

  /** The window that {@code rkey} names, or null. */
  SimWindow.Binding binding(int rkey) {
    return bindings.get(rkey);
  }

  /** Ends the key of a window; returns what it gave, or null. */
  SimWindow.Binding endBinding(int rkey) {
    SimWindow.Binding binding = bindings.remove(rkey);
    if (binding != null) {
      binding.ended = true;
    }
    return binding;
  }

  void remove(SimRegion region) {
    if (!regions.remove(region.rkey(), region)) {
      return;
    }
    count(Counter.REGIONS, -1);
    if (region.isOwn()) {
      transport.network().giveMemory(region.memory());
    }
  }

  @Override
  public void close() {
    List.copyOf(regions.values()).forEach(SimRegion::close);
  }
}
