package io.takofs.server;

import io.takofs.proto.ServerEntry;
import io.takofs.rpc.RpcConnection;
import io.takofs.server.peer.ClusterTopology;

/** Finds the server on a client's host, which keeps the first copy of what the client writes. */
final class NearServer {
  private static final String SAME_HOST = "shm";

  private NearServer() {}

  /**
   * The server on the host that {@code connection} comes from: this one over shared memory or the
   * loopback interface, else the one whose host has the client's address. 0 when there is none, or
   * only one server.
   */
  static int of(ClusterTopology cluster, RpcConnection connection) {
    return cluster.map().getServersCount() <= 1
        ? 0
        : of(cluster, connection.transportName(), connection.remoteName());
  }

  static int of(ClusterTopology cluster, String transport, String remote) {
    if (transport.equals(SAME_HOST)
        || remote.startsWith("127.")
        || isAt(remote, "0:0:0:0:0:0:0:1")) {
      return cluster.serverId();
    }
    for (ServerEntry server : cluster.map().getServersList()) {
      if (isAt(remote, server.getHost())
          || cluster.addresses(server).stream().anyMatch(address -> isAt(remote, address))) {
        return server.getId();
      }
    }
    return 0;
  }

  private static boolean isAt(String remote, String host) {
    return remote.startsWith(host + ":") || remote.startsWith("[" + host + "]:");
  }
}
