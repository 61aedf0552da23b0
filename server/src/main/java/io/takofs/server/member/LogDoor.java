package io.takofs.server.member;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lets those reach the log that the replica admits, when they prove that they are servers of the
 * cluster. In a connection request the client id is a term, the epoch a grant, the key the caller,
 * and the address its proof. A server that takes over a checkpoint names {@link
 * Layout#LOG_SNAPSHOT} as its grant, and may read the page zone and nothing else.
 *
 * <p>Thread rule: any thread.
 */
final class LogDoor implements LogHandler {
  private final Cluster cluster;
  private final LogReplica replica;
  private final LogTransports transports;
  private final PageExports pages;
  private final Runnable severed;
  private final Set<QueuePair> readers = ConcurrentHashMap.newKeySet(); // of the page zone

  /**
   * @param severed runs when the connection of a leader or a candidate has ended; it must not wait
   */
  LogDoor(
      Cluster cluster,
      LogReplica replica,
      LogTransports transports,
      PageExports pages,
      Runnable severed) {
    this.cluster = cluster;
    this.replica = replica;
    this.transports = transports;
    this.pages = pages;
    this.severed = severed;
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
    if (grant == Layout.LOG_SNAPSHOT) {
      return pages.find(transport.name()).domain();
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
    if (peer.epoch() == Layout.LOG_SNAPSHOT) {
      readers.add(pair);
    } else {
      replica.connected(peer.clientId(), peer.epoch(), pair);
    }
  }

  @Override
  public void onLogDisconnected(QueuePair pair) {
    if (readers.remove(pair)) {
      pair.close();
    } else {
      replica.disconnected(pair);
      severed.run();
    }
  }

  /** Nobody reads the page zone any more; connections are not accepted any more. */
  void endReaders() {
    readers.forEach(QueuePair::close);
    readers.clear();
  }
}
