package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.rpc.RpcConnection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The clients whose sessions are at other servers, by their connections of kind CONTROL. A client
 * stays for a while when its last connection has gone, so that it may come back.
 *
 * <p>Thread rule: any thread.
 */
final class ControlClients {
  private final Clock clock;
  private final Map<Long, Client> clients = new HashMap<>();
  private final Map<RpcConnection, Client> byConnection = new HashMap<>();

  ControlClients(Clock clock) {
    this.clock = clock;
  }

  private static final class Client {
    private final long id;
    private int connections;
    private long aloneSinceNs;

    Client(long id) {
      this.id = id;
    }
  }

  synchronized void bind(RpcConnection connection, long clientId) {
    unbind(connection);
    Client client = clients.computeIfAbsent(clientId, Client::new);
    client.connections++;
    byConnection.put(connection, client);
  }

  synchronized void unbind(RpcConnection connection) {
    Client client = byConnection.remove(connection);
    if (client != null && --client.connections == 0) {
      client.aloneSinceNs = clock.nanoTime();
    }
  }

  /** The client that calls over {@code connection}; 0 before it has said who it is. */
  synchronized long of(RpcConnection connection) {
    Client client = byConnection.get(connection);
    return client == null ? 0 : client.id;
  }

  /** Whether {@code clientId} has a connection, or had one not too long ago. */
  synchronized boolean has(long clientId) {
    return clients.containsKey(clientId);
  }

  /** Whether {@code clientId} has a connection. */
  synchronized boolean isConnected(long clientId) {
    Client client = clients.get(clientId);
    return client != null && client.connections > 0;
  }

  /** Forgets the clients that have had no connection for {@code ttlNs}, and returns them. */
  synchronized List<Long> expire(long ttlNs) {
    long now = clock.nanoTime();
    List<Long> gone = new ArrayList<>();
    for (Client client : clients.values()) {
      if (client.connections == 0 && now - client.aloneSinceNs >= ttlNs) {
        gone.add(client.id);
      }
    }
    gone.forEach(clients::remove);
    return gone;
  }
}
