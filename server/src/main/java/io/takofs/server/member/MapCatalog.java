package io.takofs.server.member;

import io.takofs.proto.GroupEntry;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.catalog.MapChanges;
import io.takofs.server.log.GroupCatalog;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.peer.ClusterTopology;
import java.util.Set;
import java.util.TreeSet;

/**
 * The members of a group as the cluster's map has them, which this server has read last.
 *
 * <p>Thread rule: any thread.
 */
record MapCatalog(int group, ClusterTopology cluster, MapChanges changes) implements GroupCatalog {
  @Override
  public GroupConfig read() {
    for (GroupEntry entry : cluster.map().getGroupsList()) {
      if (entry.getId() == group) {
        return new GroupConfig(
            entry.getConfigEpoch(),
            new TreeSet<>(entry.getMembersList()),
            new TreeSet<>(entry.getPreviousList()),
            entry.getActive(),
            entry.getTerm());
      }
    }
    return new GroupConfig(0, Set.of(), Set.of(), false);
  }

  @Override
  public void activate(long epoch) {
    changes.request(map -> ClusterMaps.activate(map, group, epoch));
  }

  /** Asks for other members than those of configuration {@code epoch}, if it is the newest. */
  void change(long epoch, Set<Integer> members) {
    changes.request(map -> ClusterMaps.changeMembers(map, group, epoch, members));
  }
}
