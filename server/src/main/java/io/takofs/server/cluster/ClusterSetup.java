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
import io.takofs.server.pool.PoolMarkers;
import java.nio.file.Path;
import java.util.List;

/**
 * The cluster as {@code fs.tako.cluster.*} describes it.
 *
 * <p>Thread rule: one thread.
 */
public final class ClusterSetup {
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
   * The catalog, which nothing is asked of yet.
   *
   * @throws TakoException INVALID_ARGUMENT when a server is alone: it has none
   */
  public ConfigStore catalog() throws TakoException {
    if (servers.isEmpty()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "there is no cluster: "
              + ConfigKeys.CLUSTER_SERVERS
              + " names no servers; name the servers' configuration by --conf or TAKO_CONF");
    }
    String directory = config.get(ConfigKeys.CATALOG_DIR);
    Path state = PoolMarkers.directory(config.get(ConfigKeys.STATE_DIR), System.getenv());
    Path parent =
        directory.isEmpty()
            ? state.resolve("catalog-" + ServerList.port(servers.get(0)))
            : Path.of(directory);
    return new FileConfigStore(parent.resolve("catalog"), new DirectoryClock(parent, Clock.SYSTEM));
  }
}
