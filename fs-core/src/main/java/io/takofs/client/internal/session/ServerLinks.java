package io.takofs.client.internal.session;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.proto.ServerEntry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

/**
 * The servers that hold the data of a client's files, by id.
 *
 * <p>Thread rule: any thread.
 */
public final class ServerLinks {
  private final Session session;
  private final Connector connector;
  private final ClusterView cluster;
  private final ThreadFactory threads;
  private final Map<Integer, ServerLink> servers = new ConcurrentHashMap<>();

  ServerLinks(Session session, Connector connector, ClusterView cluster, ThreadFactory threads) {
    this.session = session;
    this.connector = connector;
    this.cluster = cluster;
    this.threads = threads;
  }

  /** The server with this id; 0 for the session's. */
  public ServerLink at(int id) {
    return servers.computeIfAbsent(
        id, absent -> new ServerLink(id, session, connector, cluster, threads));
  }

  /** Whether there is no server but the session's. */
  public boolean isAlone() throws TakoException {
    return cluster.isAlone();
  }

  /** The entries of the servers that are UP in the cluster's map, the session's first. */
  public List<ServerEntry> all() throws TakoException {
    return cluster.all();
  }

  /** The data zones that are open now, by server; the session's under 0. */
  public Map<Integer, DataZone> openZones() {
    DataZone sessions = session.openZone();
    Map<Integer, DataZone> zones = new HashMap<>();
    if (sessions != null) {
      zones.put(0, sessions);
    }
    for (ServerLink server : servers.values()) {
      DataZone zone = server.openZone();
      if (zone != null) {
        zones.put(server.id(), zone);
      }
    }
    return zones;
  }

  /** Ends all connections but the session's. */
  void close() {
    servers.values().forEach(ServerLink::close);
  }
}
