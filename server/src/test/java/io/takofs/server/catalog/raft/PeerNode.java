package io.takofs.server.catalog.raft;

import io.takofs.base.Clock;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcServer;
import io.takofs.rpc.RpcServices;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.transport.Transport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;

/** A server that does nothing but to keep the catalog and to ask it. */
final class PeerNode implements AutoCloseable {
  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final PeerConnections connections;
  private final CatalogPeer peer;
  private final CatalogHandler handler;
  private final RpcServer rpc;
  private final Transport.Listener listener;
  private final RatisConfigStore store;

  /**
   * @param self address of this one among {@code peers}
   * @param clock whose time its entries have
   */
  PeerNode(Path directory, String self, List<String> peers, ServerSecret secret, Clock clock)
      throws IOException {
    SecureRandom random = new SecureRandom();
    connections = new PeerConnections(transport, secret, random, Clock.SYSTEM);
    peer =
        new CatalogPeer(
            new CatalogPeer.Settings(directory, self, peers, () -> true),
            connections,
            random,
            clock);
    handler = new CatalogHandler(peer, secret, random);
    rpc =
        new RpcServer(
            transport, new RpcServices(Map.of(ConnectionKind.CATALOG, handler), null), 1, 64);
    listener = transport.listen(self, rpc.acceptor());
    store = new RatisConfigStore(peers, connections, Clock.SYSTEM);
  }

  RatisConfigStore store() {
    return store;
  }

  @Override
  public void close() throws IOException {
    store.close();
    listener.close();
    rpc.close();
    handler.close();
    peer.close();
    connections.close();
    transport.close();
  }
}
