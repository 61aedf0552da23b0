package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.DataHandler;
import io.takofs.server.zone.ArenaExport;
import io.takofs.server.zone.ArenaExports;
import io.takofs.server.zone.DataConnections;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.WindowPosts;
import io.takofs.server.zone.WindowedConnection;
import io.takofs.server.zone.WriteWindows;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets clients reach the data zone: those that have a session or a connection of kind CONTROL here.
 *
 * <p>Thread rule: any thread.
 */
final class DataConnectionHandler implements DataHandler {
  private static final Logger LOG = LoggerFactory.getLogger(DataConnectionHandler.class);

  private final ServerDataZone zone;
  private final DataConnections dataConnections;
  private final WriteWindows windows;
  private final LongPredicate isClient;
  private final Map<String, ArenaExports> exports = new ConcurrentHashMap<>(); // by transport

  /**
   * @param isClient whether a client has a session or a connection of kind CONTROL at this server
   */
  DataConnectionHandler(ServerDataZone zone, LongPredicate isClient) {
    this.zone = zone;
    this.dataConnections = zone.connections();
    this.windows = zone.windows();
    this.isClient = isClient;
  }

  /**
   * Registers the arenas with {@code transport}.
   *
   * @param undo takes that back
   */
  void exportTo(Transport transport, Undo undo) throws IOException {
    exports.put(transport.name(), undo.add(zone.exportTo(transport)));
    undo.add(() -> exports.remove(transport.name()));
  }

  /** Takes the arenas back from the transports; no connection is left by then. */
  void close() {
    exports.values().forEach(ArenaExports::close);
  }

  @Override
  public ProtectionDomain admitDataConnection(Transport transport, long clientId)
      throws IOException {
    checkDataConnection(clientId);
    return exports.get(transport.name()).take().domain();
  }

  private void checkDataConnection(long clientId) throws TakoException {
    if (!isClient.test(clientId)) {
      throw ClusterCalls.unknownSession(clientId);
    }
    // The client repeats unfinished writes through this connection, so none may arrive
    // through an earlier one.
    dataConnections.fence(clientId);
    dataConnections.revokeEnded();
    if (dataConnections.isConnected(clientId)) {
      throw new TakoException(
          Status.BUSY,
          "an earlier connection of client "
              + Long.toHexString(clientId)
              + " to the data zone has not ended yet: it still has the memory; try again");
    }
  }

  @Override
  public void onDataAborted(Transport transport, ProtectionDomain domain) {
    ArenaExports mine = exports.get(transport.name());
    mine.giveBack(mine.of(domain));
  }

  @Override
  public void onDataConnected(
      Transport transport, ConnectionInfo client, QueuePair pair, ProtectionDomain domain) {
    ArenaExports mine = exports.get(transport.name());
    ArenaExport export = mine.of(domain);
    boolean usable = export.isWritable() || takesWindows(client, pair, export);
    dataConnections.add(client.clientId(), pair, export, () -> mine.giveBack(export));
    if (!usable) {
      dataConnections.ended(pair);
    }
  }

  /** Runs before the connection can end, because its end releases its windows. */
  private boolean takesWindows(ConnectionInfo client, QueuePair pair, ArenaExport export) {
    try {
      WindowPosts posts = new WindowPosts(pair, export, client);
      windows.connected(client.clientId(), new WindowedConnection(pair, posts));
      return true;
    } catch (IOException e) {
      LOG.warn("{} cannot be used: {}", pair, e.getMessage());
      return false;
    }
  }

  @Override
  public void onDataCompletion(QueuePair pair, long workRequestId, CompletionStatus status) {
    windows.onCompletion(pair, workRequestId, status);
  }

  /** The pair stays until it can be fenced: its peer may still have the memory mapped. */
  @Override
  public void onDataDisconnected(long clientId, QueuePair pair) {
    dataConnections.ended(pair);
  }
}
