package io.takofs.sim.log;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.server.catalog.CatalogClient.MapChange;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.member.MapCatalog;
import io.takofs.sim.SimScheduler;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The catalog of a cluster with one group, whose servers are in three racks. Each server knows of
 * it what it read last ({@link SimCatalogView}), maybe long ago.
 */
final class SimCatalog {
  private static final int RACKS = 3;

  /** For how long a member may go on with what it has read. */
  private static final long[] OLD_MAX_NS = {0, 10_000_000, 300_000_000, 5_000_000_000L};

  private final SimScheduler scheduler;
  private final Set<BrokenRule> broken;
  private final long oldMaxNs;
  private final Map<Integer, Copy> copies = new HashMap<>(); // what each member read last
  private boolean calm;
  private int reader; // the only one that reads any more; 0 for all
  private Copy newest;
  private int changes;

  /** The content of the catalog at one read. */
  record Copy(ClusterMap map, GroupConfig config) {}

  /**
   * @param servers of which any could be a member
   * @param members that are at first
   */
  SimCatalog(SimScheduler scheduler, int servers, Set<Integer> members, Set<BrokenRule> broken) {
    this.scheduler = scheduler;
    this.broken = broken;
    ClusterMap.Builder map = ClusterMap.newBuilder();
    for (int id = 1; id <= servers; id++) {
      map.addServers(entry(id).setId(id));
    }
    map.addGroups(
        GroupEntry.newBuilder()
            .setId(SimLogMember.GROUP)
            .setConfigEpoch(1)
            .addAllMembers(members)
            .setActive(true));
    take(map.build());
    this.oldMaxNs = OLD_MAX_NS[scheduler.random().nextInt(OLD_MAX_NS.length)];
  }

  /** The entry with which {@code server} registers. */
  static ServerEntry.Builder entry(int server) {
    return ServerEntry.newBuilder()
        .setPoolId(server)
        .setHost("server" + server)
        .setRack("/rack" + server % RACKS)
        .setLogSegments(GroupConfig.SEGMENTS_MIN);
  }

  private void take(ClusterMap map) {
    GroupConfig config = MapCatalog.config(map, SimLogMember.GROUP);
    newest = new Copy(map, config.equals(newest()) ? newest() : config);
  }

  /** Whoever reads gets the newest content from now on. */
  void calmDown() {
    calm = true;
  }

  /** From now on the catalog is there for {@code one} alone; the others go on with their copies. */
  void goAway(int one) {
    calmDown();
    reader = one;
  }

  /** Whether it is there for {@code member}. */
  boolean isReadBy(int member) {
    return reader == 0 || reader == member;
  }

  /** Whether the group could go on with {@code members} alone: one of them would know of that. */
  boolean mayHave(Set<Integer> members) {
    return reader == 0 || members.contains(reader);
  }

  GroupConfig newest() {
    return newest == null ? null : newest.config;
  }

  /** Changes of the members so far. */
  int changes() {
    return changes;
  }

  /** For how long a server goes on with what it reads now. */
  long oldNs() {
    return scheduler.delayNs(0, oldMaxNs);
  }

  /** Reads the catalog for {@code member}, where it can. */
  void read(int member) {
    if (isReadBy(member)) {
      copies.put(member, newest);
    }
  }

  /**
   * The content that {@code member} read last; it reads anew when {@code isOld}, or all is calm.
   */
  Copy copy(int member, boolean isOld) {
    if (!copies.containsKey(member)) {
      copies.put(member, newest);
    }
    if (calm || isOld) {
      read(member);
    }
    return copies.get(member);
  }

  /** Makes {@code change}, if the newest map allows it. */
  void change(MapChange change) {
    try {
      GroupConfig before = newest();
      take(change.apply(newest.map));
      if (newest().epoch() != before.epoch()) {
        changes++;
      }
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  /** Replaces one member by another, if the present configuration is active. */
  void replace(int leaves, int comes) {
    Set<Integer> members = new TreeSet<>(newest().members());
    if (members.remove(leaves) && members.add(comes)) {
      if (broken.contains(BrokenRule.EARLY_CHANGE)) {
        activate(newest().epoch());
      }
      changeMembers(newest().epoch(), members);
    }
  }

  /** The members are {@code members} instead of those of {@code epoch}, if that is the newest. */
  void changeMembers(long epoch, Set<Integer> members) {
    change(map -> ClusterMaps.changeMembers(map, SimLogMember.GROUP, epoch, members));
  }

  /** Marks configuration {@code epoch}, if it is the newest, as one in which a leader committed. */
  void activate(long epoch) {
    change(map -> ClusterMaps.activate(map, SimLogMember.GROUP, epoch));
  }
}
