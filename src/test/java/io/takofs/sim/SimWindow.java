package io.takofs.sim;

import io.takofs.transport.Access;
import io.takofs.transport.MemoryWindow;
import io.takofs.transport.TransportCounters.Counter;

/** A memory window: a key to part of a region for the peer of one queue pair. */
final class SimWindow implements MemoryWindow {
  private final SimDomain domain;
  private int rkey;
  private boolean open = true;

  SimWindow(SimDomain domain) {
    this.domain = domain;
    domain.count(Counter.WINDOWS, 1);
  }

  /** The rights that a key gives to the peer of one queue pair. */
  static final class Binding {
    final SimQueuePair owner;
    final SimRegion region;
    final int offset;
    final int length;
    final Access access;

    /** No operation begins by the key any more; what had begun may still land. */
    boolean ended;

    /** Nothing lands by the key any more. */
    boolean flushed;

    Binding(SimQueuePair owner, SimRegion region, int offset, int length, Access access) {
      this.owner = owner;
      this.region = region;
      this.offset = offset;
      this.length = length;
      this.access = access;
    }
  }

  /** The window gets the key of a binding that is staged. */
  void setKey(int key) {
    rkey = key;
  }

  SimDomain domain() {
    return domain;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  public void close() {
    if (!open) {
      return;
    }
    open = false;
    domain.count(Counter.WINDOWS, -1);
    SimWindow.Binding binding = domain.endBinding(rkey);
    if (binding != null) {
      binding.flushed = true;
    }
  }
}
