package io.takofs.server.zone;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * The file data of a server: its arenas, the connections to them, the windows of writers, and the
 * holds of readers. It knows neither paths nor leases.
 *
 * <p>Thread rule: any thread.
 */
public final class ServerDataZone {
  private final List<MappedMemory> arenas;
  private final ReaderHolds holds;
  private final Executor registering;
  private final WriteWindows windows = new WriteWindows();
  private final DataConnections connections;

  /**
   * @param registering registers the arenas for connections to come; it outlives the server
   * @param formerPeers whether a client of an earlier incarnation may still write to the arenas
   *     without a connection to this one
   */
  public ServerDataZone(
      List<MappedMemory> arenas,
      ReaderHolds holds,
      Executor registering,
      BooleanSupplier formerPeers) {
    this.arenas = List.copyOf(arenas);
    this.holds = holds;
    this.registering = registering;
    this.connections = new DataConnections(formerPeers, windows);
  }

  public List<MappedMemory> arenas() {
    return arenas;
  }

  /** Bytes of each arena, in the order extents name them. */
  public List<Long> arenaLengths() {
    return arenas.stream().map(MappedMemory::length).toList();
  }

  public ReaderHolds holds() {
    return holds;
  }

  public WriteWindows windows() {
    return windows;
  }

  public DataConnections connections() {
    return connections;
  }

  /**
   * Registers the arenas with {@code transport}; the caller closes the result.
   *
   * @throws IOException when the host does not let so much be registered
   */
  public ArenaExports exportTo(Transport transport) throws IOException {
    return new ArenaExports(transport, arenas, registering);
  }
}
