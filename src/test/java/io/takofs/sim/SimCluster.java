package io.takofs.sim;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.SessionTicket;
import io.takofs.server.peer.Cluster;

/**
 * A cluster without keys, in which everybody believes everybody.
 *
 * @param catalog what has the map
 */
public record SimCluster(int serverId, SimMap catalog) implements Cluster {
  @Override
  public ClusterMap map() {
    return catalog.get();
  }

  @Override
  public boolean isGood(SessionTicket ticket, long clientId) {
    return true;
  }

  @Override
  public boolean isGood(OpenWindows.Window window, long clientId) {
    return true;
  }

  @Override
  public boolean isGood(OpenServerSession session) {
    return true;
  }
}
