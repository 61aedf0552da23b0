package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import io.takofs.proto.Status;
import io.takofs.rpc.RpcHandler;
import io.takofs.server.catalog.ConfigStore;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.server.catalog.raft.CatalogHandler;
import io.takofs.server.catalog.raft.CatalogPeer;
import io.takofs.server.catalog.raft.PeerConnections;
import io.takofs.server.cluster.ClusterSetup;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's place in the catalog: it asks it, and may be one of the peers that keep it.
 *
 * <p>Thread rule: one thread.
 */
final class CatalogPlace implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogPlace.class);

  private final PeerConnections connections;
  private final ConfigStore store;
  private final CatalogPeer peer; // null where this server is none
  private final CatalogHandler handler;

  /**
   * @param self this server in the list
   * @param isNew whether this server was in no cluster before
   * @param transport over which to reach other peers; it outlives this
   * @throws IOException when the directory of the peer cannot be used
   */
  CatalogPlace(
      ClusterSetup setup,
      ServerSecret secret,
      String self,
      BooleanSupplier isNew,
      Transport transport)
      throws IOException {
    SecureRandom random = new SecureRandom();
    List<String> peers = setup.peers();
    try (Undo undo = new Undo()) {
      connections = undo.add(setup.connections(transport));
      store = undo.add(setup.catalog(connections));
      if (peers.contains(self)) {
        CatalogPeer.Settings settings =
            new CatalogPeer.Settings(
                setup.peerDirectory(ServerList.port(self)), self, peers, isNew);
        peer = undo.add(peer(settings, random));
        handler = undo.add(new CatalogHandler(peer, secret, random));
      } else {
        peer = null;
        handler = null;
      }
      undo.keep();
    }
  }

  private CatalogPeer peer(CatalogPeer.Settings settings, SecureRandom random) throws IOException {
    try {
      return new CatalogPeer(settings, connections, random, Clock.SYSTEM);
    } catch (FileSystemException e) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "the catalog cannot be kept in %s: %s; let this user write there, or set %s or %s"
              .formatted(
                  settings.directory(),
                  e instanceof AccessDeniedException ? "permission denied" : e.toString(),
                  ConfigKeys.STATE_DIR.name(),
                  ConfigKeys.CATALOG_LOG_DIR.name()),
          e);
    }
  }

  ConfigStore store() {
    return store;
  }

  /** Answers calls to this server as a peer; null where it is none. */
  RpcHandler handler() {
    return handler;
  }

  /** Ends questions that wait, so that who asks can end. */
  void stopAsking() {
    store.close();
  }

  @Override
  public void close() {
    if (handler != null) {
      handler.close();
      try {
        peer.close();
      } catch (IOException e) {
        LOG.warn("the catalog's peer did not stop cleanly: {}", e.toString());
      }
    }
    connections.close();
  }
}
