package io.takofs.transport.verbs;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.staging.MappedRange;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Regions of one {@code ibv_pd}.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsProtectionDomain implements ProtectionDomain {
  private final VerbsTransport transport;
  private final VerbsDomain domain;
  private final Set<VerbsMemoryRegion> regions = ConcurrentHashMap.newKeySet();
  private final Set<VerbsMemoryWindow> windows = ConcurrentHashMap.newKeySet();

  VerbsProtectionDomain(VerbsTransport transport, VerbsDomain domain) {
    this.transport = transport;
    this.domain = domain;
  }

  VerbsDomain domain() {
    return domain;
  }

  @Override
  public MemoryRegion allocate(int length, Access access) throws IOException {
    try (Undo undo = new Undo()) {
      MappedMemory memory = undo.add(MappedMemory.anonymous(MappedRange.pages(length), true));
      MemoryRegion region = add(MappedRange.owned(memory, length), access);
      undo.keep();
      return region;
    }
  }

  @Override
  public MemoryRegion register(MappedMemory memory, long offset, int length, Access access)
      throws IOException {
    return add(MappedRange.within(memory, offset, length), access);
  }

  private VerbsMemoryRegion add(MappedRange range, Access access) throws IOException {
    try (Undo undo = new Undo()) {
      VerbsRegistration registration =
          undo.add(domain.register(range.address(), range.length(), flags(access)));
      VerbsMemoryRegion region = new VerbsMemoryRegion(this, range, access, registration);
      regions.add(region);
      transport.counters().add(Counter.REGIONS, 1);
      undo.keep();
      return region;
    }
  }

  /** Windows, where the device has them, may be bound to any region that peers may address. */
  private int flags(Access access) {
    boolean windows = access != Access.LOCAL && transport.hasMemoryWindows();
    return VerbsControl.accessFlags(access) | (windows ? VerbsMemoryWindow.ACCESS_BIND : 0);
  }

  @Override
  public VerbsMemoryWindow allocateWindow() throws TakoException {
    if (!transport.hasMemoryWindows()) {
      throw new TakoException(
          Status.UNSUPPORTED,
          transport.control().facts().device() + " has no memory windows of type 2B");
    }
    return allocateWindow(transport.looksAtWindowBounds());
  }

  /** A window; {@code exact} says whether the device looks at its bounds. */
  VerbsMemoryWindow allocateWindow(boolean exact) throws TakoException {
    VerbsMemoryWindow window = new VerbsMemoryWindow(this, exact);
    windows.add(window);
    transport.counters().add(Counter.WINDOWS, 1);
    return window;
  }

  void forget(VerbsMemoryWindow window) {
    windows.remove(window);
    transport.counters().add(Counter.WINDOWS, -1);
  }

  void forget(VerbsMemoryRegion region) {
    regions.remove(region);
    transport.counters().add(Counter.REGIONS, -1);
  }

  @Override
  public void close() {
    if (transport.forget(this)) {
      windows.forEach(VerbsMemoryWindow::close);
      regions.forEach(VerbsMemoryRegion::close);
      domain.close();
    }
  }
}
