package io.takofs.client.internal.session;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.proto.ServerEntry;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

  /**
   * Whether {@code server} is needed for every write: the session is there, and can be nowhere
   * else.
   */
  public boolean isNeeded(ServerLink server) throws TakoException {
    return server.isSessions() && !cluster.hasSeveralMembers();
  }

  /** The entries of the servers that are UP in the cluster's map, the session's first. */
  public List<ServerEntry> all() throws TakoException {
    return cluster.all();
  }

  /** The data zones that are open now. */
  public Set<DataZone> openZones() {
    Set<DataZone> zones = new HashSet<>();
    zones.add(session.openZone());
    servers.values().forEach(server -> zones.add(server.openZone()));
    zones.remove(null);
    return zones;
  }

  /** The session {@code open} leaves its server, and {@code zone} stays there. */
  void leave(OpenSession open, DataZone zone) {
    int server = open.terms().getServer();
    if (server == 0) {
      zone.close(); // nobody would find it again
    } else {
      at(server).keepZone(open, zone);
    }
  }

  /** The session {@code open} is used first: servers that it has left are told who is there. */
  void introduce(OpenSession open) {
    for (ServerLink server : servers.values()) {
      if (server.isToBeIntroduced(open.identity())) {
        server.connectAside("");
      }
    }
  }

  /** Ends all connections but the session's. */
  void close() {
    servers.values().forEach(ServerLink::close);
  }
}
