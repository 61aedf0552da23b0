package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.rpc.RpcConnection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * The sessions of this incarnation and their connections.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class ClientTable {
  private final Clock clock;
  private final Map<Long, ClientState> clients = new HashMap<>();
  private final Map<RpcConnection, ClientState> byConnection = new HashMap<>();

  ClientTable(Clock clock) {
    this.clock = clock;
  }

  /** The state of {@code clientId}, made when there is none. */
  public ClientState client(long clientId) {
    return clients.computeIfAbsent(clientId, id -> new ClientState(id, clock.nanoTime()));
  }

  /**
   * A session of another leader, or of an earlier incarnation; an attempt of its client to connect
   * may take so long. Its silence begins now.
   */
  public void recovered(long clientId, long attemptNs) {
    ClientState client = client(clientId);
    client.attemptNs = client.connections.isEmpty() ? attemptNs : 0;
    client.aloneSinceNs = clock.nanoTime();
    client.lastHeardNs = clock.nanoTime();
  }

  /** Forgets the sessions that are not {@code open} any more, and returns them. */
  public List<Long> forgetEnded(LongPredicate open) {
    List<Long> ended = clients.keySet().stream().filter(id -> !open.test(id)).toList();
    ended.forEach(this::forget);
    return ended;
  }

  /** The session that {@code connection} opened, or null. */
  public ClientState of(RpcConnection connection) {
    return byConnection.get(connection);
  }

  /** The session that {@code clientId} names, if it is known. */
  public ClientState find(long clientId) {
    return clients.get(clientId);
  }

  /** The server on the host of {@code clientId}; 0 when there is none, or no such session. */
  public int nearServer(long clientId) {
    ClientState client = clients.get(clientId);
    return client == null ? 0 : client.nearServer;
  }

  public void bind(RpcConnection connection, ClientState client) {
    unbind(connection);
    client.connections.add(connection);
    client.lastHeardNs = clock.nanoTime();
    client.attemptNs = 0;
    byConnection.put(connection, client);
  }

  public void unbind(RpcConnection connection) {
    ClientState client = byConnection.remove(connection);
    if (client != null && client.connections.remove(connection)) {
      client.aloneSinceNs = clock.nanoTime();
    }
  }

  /** Forgets the session; its connections stay, unbound. */
  void forget(long clientId) {
    ClientState client = clients.remove(clientId);
    if (client != null) {
      client.connections.forEach(byConnection::remove);
    }
  }

  Collection<ClientState> all() {
    return clients.values();
  }

  /**
   * Sessions without a connection for {@code ttlNs}, and those of an earlier incarnation whose
   * client may have spent an attempt on it besides.
   */
  List<Long> expired(long ttlNs) {
    long now = clock.nanoTime();
    List<Long> ids = new ArrayList<>();
    for (ClientState client : clients.values()) {
      long patienceNs = ttlNs + client.attemptNs;
      if (client.connections.isEmpty() && now - client.aloneSinceNs >= patienceNs) {
        ids.add(client.clientId);
      }
    }
    return ids;
  }

  /** Whether {@code clientId} was not heard of for {@code limitNs}. */
  boolean silent(long clientId, long limitNs) {
    ClientState client = clients.get(clientId);
    return client != null && clock.nanoTime() - client.lastHeardNs >= limitNs;
  }

  /** Clients that were not heard of for {@code limitNs}. */
  List<Long> silent(long limitNs) {
    long now = clock.nanoTime();
    List<Long> ids = new ArrayList<>();
    for (ClientState client : clients.values()) {
      if (now - client.lastHeardNs >= limitNs) {
        ids.add(client.clientId);
      }
    }
    return ids;
  }
}
