package io.takofs.server.report;

import io.takofs.base.Clock;
import io.takofs.config.ConfigKeys;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SpaceUsage;
import io.takofs.server.peer.ClusterTopology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The status of the whole cluster, as far as this server knows: its own status, the last answers of
 * the other servers, and, unless it leads the group, that of the leader. It asks nobody: {@code
 * ClusterPoll} asks and tells it the answers.
 *
 * <p>Thread rule: any thread.
 */
public final class ClusterReport {
  /** A server that has said nothing for longer is in trouble. */
  public static final Duration SILENCE = Duration.ofSeconds(10);

  private final ClusterTopology cluster;
  private final Clock clock;
  private final Map<Integer, Said> said = new TreeMap<>();
  private ClusterStatus ofGroup = ClusterStatus.getDefaultInstance();
  private long ofGroupNs; // of the last answer, or the start
  private Supplier<SpaceUsage> space; // null: that of the status

  /** The last status of a server, the time of it, and the refusal that came since. */
  private record Said(ServerStatus status, long ns, String refusal) {}

  /** Nobody has said anything yet. */
  public ClusterReport(ClusterTopology cluster, Clock clock) {
    this.cluster = cluster;
    this.clock = clock;
    this.ofGroupNs = clock.nanoTime();
  }

  /** Takes this server's own space from {@code zone}: its status has the space of its group. */
  public synchronized void ownSpace(Supplier<SpaceUsage> zone) {
    space = zone;
  }

  /** Another server answered. */
  public synchronized void answered(int server, ServerStatus status) {
    said.put(server, new Said(status, clock.nanoTime(), ""));
  }

  /**
   * Another server did not answer, or refused.
   *
   * @param why for a person
   */
  public synchronized void refused(int server, String why) {
    Said old = said(server);
    said.put(server, new Said(old.status(), old.ns(), why));
  }

  /**
   * Takes what the group's leader says of slabs, repair, files and warnings; the leader itself
   * gives that as well. Where this server has not heard of another one, it is as the leader says.
   */
  public synchronized void ofGroup(ClusterStatus status) {
    ofGroup = status;
    ofGroupNs = clock.nanoTime();
  }

  /**
   * The leader answered this server, which does not lead. What others answered or refused, while
   * this server led or nobody did, is older than what the leader says of them.
   */
  public synchronized void leaderAnswered(int leader, ClusterStatus status) {
    ofGroup(status);
    said.remove(leader);
    said.replaceAll((server, old) -> new Said(null, old.ns(), ""));
  }

  /**
   * The answer to GetClusterStatus.
   *
   * @param own status of this server
   */
  public synchronized ClusterStatus build(ServerStatus own) {
    ClusterMap map = cluster.map();
    int self = cluster.serverId();
    int leader = cluster.leader(ClusterTopology.NAMESPACE_GROUP).map(ServerEntry::getId).orElse(0);
    ClusterStatus.Builder status =
        ClusterStatus.newBuilder()
            .setName(map.getName())
            .setClusterId(map.getClusterId())
            .setMapEpoch(map.getEpoch())
            .setServer(self)
            .setLeader(leader)
            .addAllSlabs(ofGroup.getSlabsList())
            .addAllWarnings(ofGroup.getWarningsList());
    cluster.problem().ifPresent(status::addWarnings);
    if (ofGroup.hasRepair()) {
      status.setRepair(ofGroup.getRepair());
    }
    if (ofGroup.hasGroup()) {
      status.setGroup(ofGroup.getGroup());
    }
    if (ofGroup.hasFiles()) {
      status.setFiles(ofGroup.getFiles());
    }
    if (leader == self) {
      absent(map).ifPresent(status::addWarnings); // others pass on what the leader says
      notReached().ifPresent(status::addWarnings);
      cluster.groupWarning().ifPresent(status::addWarnings);
      addOtherLists(map, status);
      addOwnWarnings(map, status);
    } else {
      status.setLeaderAgeMs(ageMs(ofGroupNs));
      addDamage(self, status);
      leaderless(map, leader).ifPresent(status::addWarnings);
      if (leader == 0 && !ofGroup.hasGroup()) {
        status.setGroup(unled(map));
      }
    }
    said.keySet().retainAll(map.getServersList().stream().map(ServerEntry::getId).toList());
    for (ServerEntry each : map.getServersList()) {
      status.addServers(each.getId() == self ? own(each, own) : other(each, leader));
    }
    return status.build();
  }

  /** The members of the group without a copy of what is written now, though they are not new. */
  private Optional<String> notReached() {
    List<Integer> silent =
        ofGroup.getGroup().getMembersList().stream()
            .filter(each -> !each.getReached() && !each.getLearner())
            .map(MemberStatus::getServer)
            .sorted()
            .toList();
    return silent.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "of the members that keep the namespace, "
                + Clusters.names(silent)
                + (silent.size() == 1 ? " has" : " have")
                + " no copy of what is written now: start what does not run, give what does"
                + " some minutes to get one, or have another server take its place (tako group"
                + " replace)");
  }

  /** A warning when this server knows no leader, and none has answered it for a while. */
  private Optional<String> leaderless(ClusterMap map, int leader) {
    List<Integer> members = members(map);
    long silentMs = ageMs(ofGroupNs);
    return leader != 0 || members.size() < 2 || silentMs < SILENCE.toMillis()
        ? Optional.empty()
        : Optional.of(
            "no server leads the namespace, as far as server %d knows: %s keep it, and %d of them must run for one to lead"
                .formatted(cluster.serverId(), Clusters.names(members), members.size() / 2 + 1));
  }

  /** The group, of which no leader has said anything since this server started. */
  private static GroupStatus unled(ClusterMap map) {
    GroupStatus.Builder group = GroupStatus.newBuilder().setId(ClusterTopology.NAMESPACE_GROUP);
    members(map).forEach(each -> group.addMembers(MemberStatus.newBuilder().setServer(each)));
    return group.build();
  }

  private static List<Integer> members(ClusterMap map) {
    return map.getGroupsList().stream()
        .limit(1)
        .flatMap(group -> group.getMembersList().stream().sorted())
        .toList();
  }

  /** The servers that are configured, and are not in {@code map}. */
  private Optional<String> absent(ClusterMap map) {
    List<String> absent = new ArrayList<>(cluster.listed());
    absent.removeAll(map.getServersList().stream().map(ClusterTopology::endpoint).toList());
    return absent.isEmpty()
        ? Optional.empty()
        : Optional.of(
            ("of the %d servers of %s these are not in the cluster: %s; start them, see in their logs"
                    + " why they are refused, or take them out of the list")
                .formatted(
                    cluster.listed().size(),
                    ConfigKeys.CLUSTER_SERVERS,
                    String.join(", ", absent)));
  }

  /** Names the servers whose configuration lists other servers than this one's does. */
  private void addOtherLists(ClusterMap map, ClusterStatus.Builder status) {
    for (ServerEntry each : map.getServersList()) {
      List<String> other = lastOf(each).getListedList();
      if (!goesOn(other, cluster.listed()) && !goesOn(cluster.listed(), other)) {
        status.addWarnings(
            "server %d has %s in %s, and server %d has %s; give all servers the same list, in the same order, and start them again"
                .formatted(
                    each.getId(),
                    String.join(",", other),
                    ConfigKeys.CLUSTER_SERVERS,
                    cluster.serverId(),
                    String.join(",", cluster.listed())));
      }
    }
  }

  /** Adds what the servers say of themselves. */
  private void addOwnWarnings(ClusterMap map, ClusterStatus.Builder status) {
    for (ServerEntry each : map.getServersList()) {
      String warning =
          each.getId() == cluster.serverId()
              ? cluster.warning().orElse("")
              : lastOf(each).getWarning();
      if (!warning.isEmpty()) {
        status.addWarnings("server %d: %s".formatted(each.getId(), warning));
      }
    }
  }

  /** The leader may not have heard of it yet, or there may be none. */
  private void addDamage(int self, ClusterStatus.Builder status) {
    if (cluster.damaged().isPresent()) {
      String warning = "server %d: %s".formatted(self, cluster.warning().orElse(""));
      if (!status.getWarningsList().contains(warning)) {
        status.addWarnings(warning);
      }
    }
  }

  /** Returns what {@code server} said last; nothing when it is lost, or has said nothing yet. */
  private ServerStatus lastOf(ServerEntry server) {
    Said last = said.get(server.getId());
    boolean hasSaid =
        server.getState() != ServerEntry.State.LOST && last != null && last.status() != null;
    return hasSaid ? last.status() : ServerStatus.getDefaultInstance();
  }

  /** Whether {@code longer} has more at its end than {@code list}, as when servers are added. */
  private static boolean goesOn(List<String> list, List<String> longer) {
    return list.size() <= longer.size() && longer.subList(0, list.size()).equals(list);
  }

  /** A server is silent from when it is first looked for. */
  private Said said(int server) {
    return said.computeIfAbsent(server, any -> new Said(null, clock.nanoTime(), ""));
  }

  private long ageMs(long ns) {
    return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - ns);
  }

  private ServerHealth.Builder own(ServerEntry entry, ServerStatus status) {
    ServerEntry.Builder now =
        entry.toBuilder().setVersion(status.getVersion()).setHttp(status.getHttp());
    ServerHealth.Builder health = heard(now.build(), status);
    return space == null ? health : health.setUsage(space.get());
  }

  private ServerHealth.Builder heard(ServerEntry entry, ServerStatus status) {
    return ofLeader(entry.getId())
        .setEntry(entry)
        .setHeard(true)
        .setHeardAgeMs(0)
        .setUsage(status.getUsage())
        .setUptimeMs(status.getUptimeMs())
        .setTrouble(
            status.getSafeMode() ? "safe mode: all changes are refused" : entry.getDamage());
  }

  private ServerHealth.Builder other(ServerEntry entry, int leader) {
    Said last = said(entry.getId());
    ServerHealth.Builder health = ofLeader(entry.getId()).setEntry(entry);
    boolean hearsay = last.status() == null && health.getHeard();
    if (hearsay) {
      health.setHeardAgeMs(health.getHeardAgeMs() + ageMs(ofGroupNs));
    } else {
      health = last.status() == null ? health : heard(entry, last.status());
      health.setHeardAgeMs(ageMs(last.ns()));
    }
    if (entry.getState() == ServerEntry.State.LOST) {
      return health.setTrouble(
          "its pool is gone; when all copies are there again: tako cluster remove "
              + entry.getId());
    }
    List<String> trouble = new ArrayList<>();
    // The leader's words of a server name its damage, too.
    boolean told = hearsay && !health.getTrouble().isEmpty();
    trouble.add(told ? health.getTrouble() : entry.getDamage());
    boolean silent = health.getHeardAgeMs() >= SILENCE.toMillis();
    if (silent && (!hearsay || entry.getId() == leader)) {
      String since = "silent for " + Spans.clock(Duration.ofMillis(health.getHeardAgeMs()));
      trouble.add(last.refusal().isEmpty() ? since : since + ": " + last.refusal());
    } else if (!told) {
      trouble.add(last.refusal());
    }
    trouble.removeIf(String::isEmpty);
    return trouble.isEmpty() ? health : health.setTrouble(String.join("; ", trouble));
  }

  private ServerHealth.Builder ofLeader(int server) {
    return ofGroup.getServersList().stream()
        .filter(each -> each.getEntry().getId() == server)
        .findFirst()
        .orElse(ServerHealth.getDefaultInstance())
        .toBuilder();
  }
}
