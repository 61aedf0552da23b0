package io.takofs.server;

import io.takofs.server.loggroup.Leader;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.ClusterTopology;

/**
 * The leader of a group that has one member: who that is stands in the cluster's map. A server that
 * has not joined may be one of two that take themselves for leaders, so it does not lead. Once it
 * leads it goes on for as long as it runs, whatever it reads of the map.
 *
 * <p>Thread rule: any thread.
 */
final class OnlyMember implements Leader {
  private final Cluster cluster;
  private final long epoch;
  private long term;

  /**
   * @param epoch incarnation of this server
   */
  OnlyMember(Cluster cluster, long epoch) {
    this.cluster = cluster;
    this.epoch = epoch;
  }

  @Override
  public synchronized long term() {
    if (term == 0 && cluster.leads(ClusterTopology.NAMESPACE_GROUP)) {
      term = Math.max(cluster.term(ClusterTopology.NAMESPACE_GROUP), epoch);
    }
    return term;
  }
}
