package io.takofs.server.catalog;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.server.log.GroupConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Says when the namespace is on fewer servers than there are for it, because some cannot keep it:
 * their pools are too small or of another size, or they leave. Then less survives than somebody
 * with so many servers expects. One that is damaged says so itself, and comes back by itself.
 */
public final class FewMembers {
  private FewMembers() {}

  /**
   * The servers that could keep the namespace and are unfit, or leave, with what to do after a
   * semicolon; empty when there are as many members as there should be, or when others are about to
   * become some.
   *
   * @param membersMax that a group has where there are as many servers
   */
  public static Optional<String> warning(ClusterMap map, int group, int membersMax) {
    GroupEntry entry =
        map.getGroupsList().stream().filter(each -> each.getId() == group).findAny().orElse(null);
    ServerEntry member = entry == null || entry.getMembersCount() == 0 ? null : first(map, entry);
    if (member == null) {
      return Optional.empty();
    }
    int fit = 0;
    List<String> unfit = new ArrayList<>();
    List<Integer> leaving = new ArrayList<>();
    for (ServerEntry each : map.getServersList()) {
      boolean there = each.getState() == ServerEntry.State.UP && each.getDamage().isEmpty();
      boolean keeps = entry.getMembersList().contains(each.getId());
      if (keeps || ClusterMaps.canBeMember(each, member)) {
        fit++;
      } else if (there) {
        unfit.add("server %d %s".formatted(each.getId(), why(each, member)));
      } else if (leavesFit(each, member)) {
        leaving.add(each.getId());
      }
    }
    int wanted = ClusterMaps.memberCount(membersMax, fit + unfit.size());
    if (ClusterMaps.memberCount(fit, fit) >= wanted) {
      int withLeaving = ClusterMaps.memberCount(membersMax, fit + leaving.size());
      return withLeaving > ClusterMaps.memberCount(membersMax, fit)
          ? Optional.of(leaving(entry, fit + leaving.size(), leaving))
          : Optional.empty();
    }
    return Optional.of(
        ("the namespace is on %d of %d servers, and so it survives the loss of %d of them only:"
                + " %s; stop each of these, one after the other, set the sizes of its pool as those"
                + " of server %d are, remove the pool's directory, start it with `tako server"
                + " --format`, and wait until its copies are there again")
            .formatted(
                entry.getMembersCount(),
                fit + unfit.size(),
                (entry.getMembersCount() - 1) / 2,
                String.join(", ", unfit),
                member.getId()));
  }

  private static ServerEntry first(ClusterMap map, GroupEntry group) {
    return map.getServersList().stream()
        .filter(each -> each.getId() == group.getMembers(0))
        .findAny()
        .orElse(null);
  }

  private static boolean leavesFit(ServerEntry server, ServerEntry member) {
    return server.getState() == ServerEntry.State.DECOMMISSIONING
        && ClusterMaps.canBeMember(
            server.toBuilder().setState(ServerEntry.State.UP).build(), member);
  }

  private static String leaving(GroupEntry group, int servers, List<Integer> leaving) {
    return "the namespace is on %d of %d servers, and so it survives the loss of %d of them only, while %s; tako cluster add takes a server back, and another server that joins takes its place"
        .formatted(
            group.getMembersCount(),
            servers,
            (group.getMembersCount() - 1) / 2,
            leaving.size() == 1
                ? "server " + leaving.get(0) + " leaves"
                : "servers " + leaving + " leave");
  }

  private static String why(ServerEntry server, ServerEntry member) {
    if (server.getLogSegments() < GroupConfig.SEGMENTS_MIN) {
      return "has a log of %d segments, and %d are needed (fs.tako.server.pool.size of 192m or fs.tako.server.pool.log.size of 64m, at least)"
          .formatted(server.getLogSegments(), GroupConfig.SEGMENTS_MIN);
    }
    return "has %d metadata pages, and server %d has %d (fs.tako.server.pool.size, fs.tako.server.pool.pages.size)"
        .formatted(server.getMetadataPages(), member.getId(), member.getMetadataPages());
  }
}
