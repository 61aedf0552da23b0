package io.takofs.server.member;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.catalog.MapChanges;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.peer.ClusterTopology;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * The members of a group as the cluster's map has them, which this server has read last.
 *
 * <p>Thread rule: any thread.
 */
public record MapCatalog(int group, ClusterTopology cluster, MapChanges changes)
    implements MemberCatalog {
  @Override
  public GroupConfig read() {
    return config(cluster.map(), group);
  }

  /** The members of {@code group} as {@code map} has them; none of epoch 0 where it has not. */
  public static GroupConfig config(ClusterMap map, int group) {
    for (GroupEntry entry : map.getGroupsList()) {
      if (entry.getId() == group) {
        return new GroupConfig(
            entry.getConfigEpoch(),
            new TreeSet<>(entry.getMembersList()),
            new TreeSet<>(entry.getPreviousList()),
            entry.getActive(),
            entry.getTerm(),
            entry.getCopiedEpochsList());
      }
    }
    return new GroupConfig(0, Set.of(), Set.of(), false);
  }

  @Override
  public void activate(long epoch) {
    changes.request("activate", map -> ClusterMaps.activate(map, group, epoch));
  }

  @Override
  public void change(long epoch, Set<Integer> members, BooleanSupplier stillRight) {
    changes.request(
        "members",
        map ->
            stillRight.getAsBoolean()
                ? ClusterMaps.changeMembers(map, group, epoch, members)
                : map);
  }
}
