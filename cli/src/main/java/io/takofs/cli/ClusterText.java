package io.takofs.cli;

import io.takofs.proto.ClusterStatus;
import io.takofs.proto.FileHealth;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.report.Clusters;
import io.takofs.server.report.Counts;
import io.takofs.server.report.Sizes;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A cluster's status as lines; of a server alone there is nothing but warnings. */
final class ClusterText {
  private static final List<String> HEAD =
      List.of("ID", "ADDRESS", "STATE", "RACK", "VERSION", "USED", "OF", "SLABS", "HEALTH");

  private ClusterText() {}

  /** All of it, for {@code tako status}. */
  static String lines(ClusterStatus cluster) {
    StringBuilder out = new StringBuilder();
    cluster.getWarningsList().forEach(each -> line(out, "warning", each));
    if (cluster.getServersCount() <= 1) {
      return out.toString(); // the others may not have joined
    }
    line(out, "servers", cluster.getServersCount() + ", of which " + troubled(cluster));
    table(out, cluster.getServersList());
    if (cluster.getGroup().getMembersCount() > 1) {
      line(out, "group", group(cluster.getGroup(), cluster.getLeader()));
    }
    if (cluster.getSlabsCount() > 0) {
      line(
          out,
          "slabs",
          cluster.getSlabsList().stream()
              .map(each -> each.getSlabs() + " " + each.getState())
              .collect(Collectors.joining(", ")));
    }
    RepairStatus repair = cluster.getRepair();
    if (isRepairing(repair)) {
      line(out, "repair", repair(repair));
    }
    if (repair.getFilesToMove() > 0) {
      line(
          out,
          "replication",
          Counts.text(repair.getFilesToMove(), "file gets", "files get")
              + " another number of copies, "
              + Sizes.human(repair.getBytesMoved())
              + " moved"
              + (repair.getMovesWait().isEmpty() ? "" : "; waits " + repair.getMovesWait()));
    }
    if (repair.getSlabsEmptied() > 0) {
      line(
          out,
          "emptied",
          Counts.text(repair.getSlabsEmptied(), "slab", "slabs")
              + ", because others needed the room");
    }
    if (repair.getWrongCopies() > 0) {
      line(
          out,
          "scrub",
          String.format(
              Locale.ROOT,
              "%s in %s that were verified; see the log of the server with the namespace",
              Counts.text(repair.getWrongCopies(), "wrong copy", "wrong copies"),
              Sizes.human(repair.getBytesVerified())));
    }
    FileHealth files = cluster.getFiles();
    if (files.getCorrupt() + files.getMissing() > 0) {
      line(
          out,
          "files",
          files.getCorrupt() + " corrupt, " + files.getMissing() + " missing: see tako fsck");
    }
    return out.toString();
  }

  /**
   * The server that leads, where that is not the one at {@code asked}, {@code host:port}, which
   * passed the question on.
   */
  static Optional<String> leaderElsewhere(ClusterStatus cluster, String asked) {
    return cluster.getServersList().stream()
        .map(ServerHealth::getEntry)
        .filter(each -> cluster.getServersCount() > 1 && each.getId() == cluster.getLeader())
        .map(each -> "server " + each.getId() + " at " + ClusterMaps.address(each))
        .filter(leader -> !leader.endsWith(" " + asked))
        .findAny();
  }

  /** The servers that keep the namespace. */
  static List<Integer> members(GroupStatus group) {
    return group.getMembersList().stream()
        .filter(each -> !each.getLearner())
        .map(MemberStatus::getServer)
        .toList();
  }

  private static String group(GroupStatus group, int leader) {
    return Clusters.names(members(group))
        + " keep the namespace, and "
        + (leader == 0 ? "none of them leads, as far as is known" : "server " + leader + " leads");
  }

  /** Whether copies are missing that can be made. */
  static boolean isRepairing(RepairStatus repair) {
    return repair.getSlabsWaiting() + repair.getSlabsCopiedNow() > 0;
  }

  /** How far repair is, for {@code tako repair}, too. */
  static String repair(RepairStatus repair) {
    return String.format(
        Locale.ROOT,
        "%s, %d copied now, %s left at %s/s%s",
        Counts.text(repair.getSlabsWaiting(), "slab waits", "slabs wait"),
        repair.getSlabsCopiedNow(),
        Sizes.human(repair.getBytesLeft()),
        Sizes.human(repair.getBytesPerSecond()),
        Clusters.timeLeft(repair));
  }

  /** One line, for {@code tako top}. */
  static String summary(ClusterStatus cluster) {
    if (cluster.getServersCount() <= 1) {
      return "";
    }
    String servers = cluster.getServersCount() + " servers, " + troubled(cluster);
    if (!cluster.hasRepair()) {
      return servers;
    }
    FileHealth files = cluster.getFiles();
    return String.format(
        Locale.ROOT,
        "%s; repair %s/s, %s left; files: %d corrupt, %d missing",
        servers,
        Sizes.human(cluster.getRepair().getBytesPerSecond()),
        Sizes.human(cluster.getRepair().getBytesLeft()),
        files.getCorrupt(),
        files.getMissing());
  }

  private static String troubled(ClusterStatus cluster) {
    long troubled =
        cluster.getServersList().stream().filter(each -> !each.getTrouble().isEmpty()).count();
    return troubled == 0 ? "all are well" : troubled + " in trouble";
  }

  private static void table(StringBuilder out, List<ServerHealth> servers) {
    List<List<String>> rows =
        Stream.concat(Stream.of(HEAD), servers.stream().map(ClusterText::row)).toList();
    for (List<String> row : rows) {
      StringBuilder text = new StringBuilder(" ");
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = rows.stream().mapToInt(each -> each.get(column).length()).max().orElse(0);
        text.append(' ').append(row.get(i)).append(" ".repeat(width - row.get(i).length()));
      }
      out.append(text.toString().stripTrailing()).append(System.lineSeparator());
    }
  }

  private static List<String> row(ServerHealth server) {
    ServerEntry entry = server.getEntry();
    return List.of(
        Integer.toString(entry.getId()),
        ClusterMaps.address(entry),
        Clusters.state(entry),
        entry.getRack(),
        entry.getVersion(),
        server.getHeard() ? Clusters.used(server.getUsage()) : "-",
        server.getHeard() ? Sizes.human(server.getUsage().getCapacity()) : "-",
        Long.toString(server.getReplicas()),
        server.getTrouble().isEmpty() ? "well" : server.getTrouble());
  }

  private static void line(StringBuilder out, String name, String text) {
    out.append(String.format(Locale.ROOT, "%-12s %s%n", name, text));
  }
}
