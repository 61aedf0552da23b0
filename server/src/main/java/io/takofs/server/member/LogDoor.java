package io.takofs.server.member;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.LogHandler;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTransport;
import io.takofs.server.log.LogTransports;
import io.takofs.server.peer.Cluster;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;

/**
 * Lets those reach the log that the replica admits, when they prove that they are servers of the
 * cluster. In a connection request the client id is a term, the epoch a grant, the key the caller,
 * and the address its proof.
 *
 * <p>Thread rule: any thread.
 */
final class LogDoor implements LogHandler {
  private final Cluster cluster;
  private final LogReplica replica;
  private final LogTransports transports;

  LogDoor(Cluster cluster, LogReplica replica, LogTransports transports) {
    this.cluster = cluster;
    this.replica = replica;
    this.transports = transports;
  }

  @Override
  public ProtectionDomain admitLogConnection(Transport transport, ConnectionInfo peer)
      throws TakoException {
    long term = peer.clientId();
    long grant = peer.epoch();
    if (cluster.serverId() == 0
        || peer.address() != cluster.logProof(term, grant, peer.rkey(), cluster.serverId())) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          "server "
              + peer.rkey()
              + " cannot prove that it is one of this cluster;"
              + " fs.tako.cluster.secret.file must be the same on all servers");
    }
    if (!replica.admits(term, grant)) {
      throw new TakoException(
          Status.STALE_TERM,
          "grant " + grant + " of term " + term + " has ended at server " + cluster.serverId());
    }
    LogTransport via = transports.find(transport.name());
    if (via == null) {
      throw new TakoException(
          Status.UNAVAILABLE, "the log is not reached over " + transport.name());
    }
    return via.domain();
  }

  @Override
  public void onLogConnected(QueuePair pair, ConnectionInfo peer) {
    replica.connected(peer.clientId(), peer.epoch(), pair);
  }

  @Override
  public void onLogDisconnected(QueuePair pair) {
    replica.disconnected(pair);
  }
}
