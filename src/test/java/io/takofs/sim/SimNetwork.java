package io.takofs.sim;

import io.takofs.memory.MappedMemory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The network between processes: their listeners, the packets, and the links that are cut. */
public final class SimNetwork {
  private final SimScheduler scheduler;
  private final SimProcess wire = new SimProcess("the wire");
  private final Map<String, SimListener> listeners = new HashMap<>();
  private final SimLinks links = new SimLinks();
  private final List<SimTransport> transports = new ArrayList<>();
  private final Map<Integer, ArrayDeque<ByteBuffer>> idleMemory = new HashMap<>();
  private final byte[] zeros = new byte[1 << 16];
  private SimConditions conditions;
  private int nextNumber = 1;
  private long strayNs;
  private SimStores stores = (arena, offset, length, client) -> {};

  public SimNetwork(SimScheduler scheduler, SimConditions conditions) {
    this.scheduler = scheduler;
    this.conditions = conditions;
  }

  public SimScheduler scheduler() {
    return scheduler;
  }

  public SimConditions conditions() {
    return conditions;
  }

  /** The network behaves differently from now on. */
  public void setConditions(SimConditions newConditions) {
    conditions = newConditions;
  }

  /** Peers may go on storing to the memory of a process for so long after its death. */
  public void setStrays(long nanos) {
    strayNs = nanos;
  }

  /** Until a store lands nowhere any more, from the death of its target on. */
  public long strayNs() {
    return strayNs;
  }

  /** The network card of {@code process}. */
  public SimTransport attach(SimProcess process) {
    SimTransport transport = new SimTransport(this, process);
    transports.add(transport);
    process.atDeath(transport::die);
    return transport;
  }

  /** Tells {@code watcher} what is stored. */
  public void watch(SimStores watcher) {
    stores = watcher;
  }

  SimStores stores() {
    return stores;
  }

  /**
   * Whether a store of {@code client} between {@code offset} and {@code offset + length} of an
   * arena is under way over a connection that nobody has ended.
   */
  public boolean isStoring(long client, MappedMemory arena, int offset, int length) {
    return transports.stream()
        .flatMap(transport -> transport.connectedPairs().stream())
        .anyMatch(pair -> pair.isStoring(client, arena, offset, length));
  }

  /** What is wrong between processes. */
  public SimLinks links() {
    return links;
  }

  /** Breaks a random connection, if there is one. */
  public void breakOne() {
    List<SimQueuePair> pairs = new ArrayList<>();
    for (SimTransport transport : transports) {
      pairs.addAll(transport.connectedPairs());
    }
    if (!pairs.isEmpty()) {
      pairs.get(scheduler.random().nextInt(pairs.size())).breakConnection();
    }
  }

  /** Something happens on the wire, whoever is still alive. */
  public void schedule(long delayNs, Runnable action) {
    scheduler.schedule(wire, delayNs, action);
  }

  /** One way between the two, this time. */
  public long latencyNs(SimProcess one, SimProcess other) {
    long latency =
        links.extraNs(one, other)
            + scheduler.delayNs(conditions.latencyMinNs(), conditions.latencyMaxNs());
    return happens(conditions.stallChance())
        ? latency + scheduler.delayNs(0, conditions.stallMaxNs())
        : latency;
  }

  boolean happens(double chance) {
    return chance > 0 && scheduler.random().nextDouble() < chance;
  }

  /** Zeroed memory for a region; recycled, because the JVM is slow to give direct memory back. */
  ByteBuffer takeMemory(int length) {
    ByteBuffer memory = idleMemory.computeIfAbsent(length, key -> new ArrayDeque<>()).poll();
    if (memory == null) {
      return ByteBuffer.allocateDirect(length);
    }
    for (int i = 0; i < length; i += zeros.length) {
      memory.put(i, zeros, 0, Math.min(zeros.length, length - i));
    }
    return memory;
  }

  /** The region is closed: nothing lands there any more. */
  void giveMemory(ByteBuffer memory) {
    idleMemory.get(memory.capacity()).add(memory);
  }

  int nextNumber() {
    return nextNumber++;
  }

  SimListener listener(String endpoint) {
    return listeners.get(endpoint);
  }

  void add(SimListener listener) {
    listeners.put(listener.endpoint(), listener);
  }

  void remove(SimListener listener) {
    listeners.remove(listener.endpoint(), listener);
  }
}
