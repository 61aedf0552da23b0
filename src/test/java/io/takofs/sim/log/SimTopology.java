package io.takofs.sim.log;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.ServerEntry;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.peer.ClusterTopology;

/**
 * The servers of a cluster, all of which could be members of its group, in three racks.
 *
 * @param serverId the one that looks at it
 */
record SimTopology(int serverId, ClusterMap map) implements ClusterTopology {
  private static final int RACKS = 3;

  static SimTopology of(int serverId, int servers) {
    ClusterMap.Builder map = ClusterMap.newBuilder();
    for (int id = 1; id <= servers; id++) {
      map.addServers(
          ServerEntry.newBuilder()
              .setId(id)
              .setRack("/rack" + id % RACKS)
              .setLogSegments(GroupConfig.SEGMENTS_MIN));
    }
    return new SimTopology(serverId, map.build());
  }
}
