package io.takofs.server.cluster;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import io.takofs.server.catalog.ConfigStore;
import io.takofs.server.catalog.DirectoryClock;
import io.takofs.server.catalog.FileConfigStore;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.server.catalog.raft.PeerConnections;
import io.takofs.server.catalog.raft.RatisConfigStore;
import io.takofs.server.pool.PoolMarkers;
import io.takofs.transport.Transport;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;

/**
 * The cluster as {@code fs.tako.cluster.*} describes it.
 *
 * <p>Thread rule: one thread.
 */
public final class ClusterSetup {
  private static final int PEERS = 3;

  private final TakoConfig config;
  private final List<String> servers;

  /** The cluster of {@code config}. */
  public ClusterSetup(TakoConfig config) {
    this.config = config;
    this.servers = ServerList.parse(config.get(ConfigKeys.CLUSTER_SERVERS));
  }

  /** The servers, {@code host:port}; the first has the namespace. None when a server is alone. */
  public List<String> servers() {
    return servers;
  }

  /** Whether there is a cluster; else a server is alone. */
  public boolean isCluster() {
    return !servers.isEmpty();
  }

  /**
   * The servers that keep the catalog, {@code host:port}: three, or one where there are fewer than
   * three. None when a server is alone, and where the catalog is a file that all servers share.
   */
  public List<String> peers() {
    if (!config.get(ConfigKeys.CATALOG_DIR).isEmpty()) {
      return List.of();
    }
    return servers.subList(0, servers.size() < PEERS ? Math.min(1, servers.size()) : PEERS);
  }

  /**
   * The directory in which a peer of the catalog keeps its log.
   *
   * @param port of the server
   */
  public Path peerDirectory(int port) {
    String directory = config.get(ConfigKeys.CATALOG_LOG_DIR);
    return directory.isEmpty() ? state().resolve("catalog-" + port) : Path.of(directory);
  }

  /**
   * The file in which a server keeps a copy of the catalog.
   *
   * @param port of the server
   */
  public Path copy(int port) {
    return state().resolve("catalog-copy-" + port);
  }

  private Path state() {
    return PoolMarkers.directory(config.get(ConfigKeys.STATE_DIR), System.getenv());
  }

  /**
   * Connections to the servers that keep the catalog; none is made yet.
   *
   * @param transport over which they are made; it outlives them
   */
  public PeerConnections connections(Transport transport) throws TakoException {
    return new PeerConnections(
        transport,
        ServerSecret.read(config.get(ConfigKeys.SECRET_FILE)),
        new SecureRandom(),
        Clock.SYSTEM);
  }

  /**
   * The catalog, which nothing is asked of yet.
   *
   * @param connections to the servers that keep it, if servers do; they outlive it
   * @throws TakoException INVALID_ARGUMENT when a server is alone: it has none
   */
  public ConfigStore catalog(PeerConnections connections) throws TakoException {
    if (servers.isEmpty()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "there is no cluster: "
              + ConfigKeys.CLUSTER_SERVERS
              + " names no servers; name the servers' configuration by --conf or TAKO_CONF");
    }
    if (!peers().isEmpty()) {
      return new RatisConfigStore(peers(), connections, Clock.SYSTEM);
    }
    Path directory = Path.of(config.get(ConfigKeys.CATALOG_DIR));
    return new FileConfigStore(
        directory.resolve("catalog"), new DirectoryClock(directory, Clock.SYSTEM));
  }
}
