package io.takofs.server.log;

import io.takofs.layout.Layout;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One transport over which members of a group reach each other's logs: this member's memory as its
 * peers name it there, and what this member sends with.
 *
 * <p>Thread rule: any thread.
 */
public final class LogTransport {
  private final String name;
  private final ProtectionDomain domain;
  private final LogMemory memory;
  private final CompletionQueue queue;
  private final Map<Integer, MemoryRegion> beats = new ConcurrentHashMap<>();

  /**
   * @param name of the transport
   * @param domain in which {@code memory} is registered, and connections are made
   * @param queue where the sends of this member complete
   */
  public LogTransport(
      String name, ProtectionDomain domain, LogMemory memory, CompletionQueue queue) {
    this.name = name;
    this.domain = domain;
    this.memory = memory;
    this.queue = queue;
  }

  public String name() {
    return name;
  }

  public ProtectionDomain domain() {
    return domain;
  }

  LogMemory memory() {
    return memory;
  }

  public CompletionQueue queue() {
    return queue;
  }

  /** Memory for the heartbeats to {@code server}, the same in each term. */
  MemoryRegion beatsTo(int server) {
    return beats.computeIfAbsent(server, key -> allocateBeats());
  }

  private MemoryRegion allocateBeats() {
    try {
      return domain.allocate(FollowerStream.SENDS_MAX * Layout.HEARTBEAT_SIZE, Access.LOCAL);
    } catch (IOException e) {
      throw new UncheckedIOException("no memory for heartbeats", e);
    }
  }
}
