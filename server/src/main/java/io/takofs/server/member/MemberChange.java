package io.takofs.server.member;

import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.MoveLeader;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.log.LogMember;
import io.takofs.server.peer.ClusterTopology;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a group the members that it should have, at its leader: as many as are configured where
 * there are as many servers, and another one instead of one that is lost, leaves the cluster, or is
 * silent for too long. A new member learns the log first; then the catalog goes to the next
 * configuration, and somebody stands for election in it (model Reconfig, R6).
 *
 * <p>Thread rule: the member's thread.
 */
final class MemberChange {
  private static final Logger LOG = LoggerFactory.getLogger(MemberChange.class);

  /** Entries that a server may lack to become a member. */
  private static final long LAG_MAX = 4096;

  private static final long ASK_AGAIN_NS = TimeUnit.SECONDS.toNanos(5);

  private final LogMember member;
  private final MemberLinks links;
  private final MapCatalog catalog;
  private final ClusterTopology cluster;
  private final MemberSettings settings;
  private final Map<Integer, Long> silentSinceNs = new HashMap<>();
  private String warned = "";
  private long askedNs = Long.MIN_VALUE; // when another configuration was asked for
  private volatile Replacement replacement; // that somebody wants; null for none

  private record Replacement(int leaves, int comes) {}

  MemberChange(
      LogMember member,
      MemberLinks links,
      MapCatalog catalog,
      ClusterTopology cluster,
      MemberSettings settings) {
    this.member = member;
    this.links = links;
    this.catalog = catalog;
    this.cluster = cluster;
    this.settings = settings;
  }

  /**
   * Has {@code comes} take the place of {@code leaves}; on any thread.
   *
   * @throws TakoException INVALID_ARGUMENT when that cannot be
   */
  void replace(int leaves, int comes) throws TakoException {
    Set<Integer> members = catalog.read().members();
    if (!members.contains(leaves)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server " + leaves + " is no member of the group, which has " + members);
    }
    if (!spare(members).contains(comes)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          ("server %d cannot become a member: it must be UP and no member yet, have a log of %d"
                  + " segments and as many metadata pages as the members (fs.tako.server.pool.size)")
              .formatted(comes, GroupConfig.SEGMENTS_MIN));
    }
    replacement = new Replacement(leaves, comes);
  }

  /**
   * Has another member stand for election; on any thread. There is nothing to do when it is this
   * one, which leads.
   *
   * @param server that shall; 0 for any other that can
   * @return whether one was asked, or leads
   * @throws TakoException INVALID_ARGUMENT when it is no member, UNAVAILABLE when it lags
   */
  boolean moveTo(int server) throws TakoException {
    Set<Integer> members = catalog.read().members();
    if (server == cluster.serverId() && member.leadingTerm() != 0) {
      return true;
    }
    if (server != 0 && !members.contains(server)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server %d is no member of the group: server %d leads, and it has %s"
              .formatted(server, cluster.serverId(), members));
    }
    List<Integer> able =
        members.stream()
            .filter(each -> server == 0 ? each != cluster.serverId() : each == server)
            .filter(each -> member.isCaughtUp(each, LAG_MAX))
            .toList();
    if (able.isEmpty() && server != 0) {
      throw new TakoException(
          Status.UNAVAILABLE, "server " + server + " does not get the log now; tako group status");
    }
    askToStand(able.iterator(), member.leadingTerm());
    return !able.isEmpty();
  }

  /**
   * Asks one after the other until one stands: a member without a state, say, does not. When this
   * one leads in {@code term} no more, somebody has stood, and nobody else is asked.
   */
  private void askToStand(Iterator<Integer> servers, long term) {
    if (servers.hasNext() && member.leadingTerm() == term) {
      Request stand =
          Request.newBuilder()
              .setMoveLeader(
                  MoveLeader.newBuilder().setGroup(catalog.group()).setTerm(member.releaseLease()))
              .build();
      links.call(
          servers.next(),
          stand,
          reply -> {
            if (reply.getStatus() != Status.OK) {
              askToStand(servers, term);
            }
          });
    }
  }

  /** Does what is due. */
  void tick(long nowNs) {
    if (member.leadingTerm() == 0) {
      silentSinceNs.clear();
      askedNs = Long.MIN_VALUE;
      return;
    }
    GroupConfig now = member.config();
    GroupConfig newest = catalog.read();
    if (newest.epoch() > now.epoch()) {
      letSomebodyStand(newest);
      return;
    }
    if (!newest.active()) {
      catalog.activate(now.epoch()); // again, if the catalog was away
      return;
    }
    watch(now, nowNs);
    warn();
    Set<Integer> wanted = wanted(now, nowNs);
    Set<Integer> learners = new TreeSet<>(wanted);
    learners.removeAll(now.members());
    member.setLearners(learners);
    if (!wanted.equals(now.members())
        && isRight(learners, wanted)
        && (askedNs == Long.MIN_VALUE || nowNs - askedNs >= ASK_AGAIN_NS)) {
      Facts.of("epoch", now.epoch()).and("members", wanted).info(LOG, "the group gets new members");
      askedNs = nowNs;
      long term = member.leadingTerm();
      catalog.change(
          now.epoch(),
          wanted,
          () -> term != 0 && member.leadingTerm() == term && isRight(learners, wanted));
    }
  }

  /** Says once, and when it changes, why there are fewer members than there should be. */
  private void warn() {
    String warning = cluster.groupWarning().orElse("");
    if (!warning.equals(warned)) {
      warned = warning;
      if (!warning.isEmpty()) {
        LOG.warn("{}", warning);
      }
    }
  }

  /** Whether the new ones have the log, and a majority of all gets it at the moment. */
  private boolean isRight(Set<Integer> learners, Set<Integer> wanted) {
    return learners.stream().allMatch(each -> member.isCaughtUp(each, LAG_MAX)) && lives(wanted);
  }

  /** This server, if it is a member of {@code newest}, else another one that is. */
  private void letSomebodyStand(GroupConfig newest) {
    int self = cluster.serverId();
    if (newest.members().contains(self)) {
      member.stand();
      return;
    }
    askToStand(
        newest.members().stream()
            .filter(each -> member.isCaughtUp(each, LAG_MAX))
            .toList()
            .iterator(),
        member.leadingTerm());
  }

  private void watch(GroupConfig now, long nowNs) {
    silentSinceNs.keySet().retainAll(now.members());
    for (int each : now.members()) {
      if (isReached(each)) {
        silentSinceNs.remove(each);
      } else {
        silentSinceNs.putIfAbsent(each, nowNs);
      }
    }
  }

  private boolean isReached(int server) {
    return server == cluster.serverId() || member.isCaughtUp(server, Long.MAX_VALUE / 2);
  }

  /** Whether a majority of {@code wanted} gets the log at the moment. */
  private boolean lives(Set<Integer> wanted) {
    return 2 * wanted.stream().filter(this::isReached).count() > wanted.size();
  }

  /** The members that the group should have now: those of {@code now}, where there is no reason. */
  private Set<Integer> wanted(GroupConfig now, long nowNs) {
    List<Integer> spare = spare(now.members());
    Set<Integer> wanted = new TreeSet<>(now.members());
    Replacement asked = replacement;
    if (asked != null && wanted.contains(asked.leaves) && spare.contains(asked.comes)) {
      wanted.remove(asked.leaves);
      wanted.add(asked.comes);
      return wanted;
    }
    if (asked != null && !now.members().contains(asked.leaves)) {
      replacement = null; // it is done
    }
    if (spare.isEmpty() && wanted.stream().anyMatch(this::isDamaged)) {
      return without(now.members());
    }
    int size = Math.max(now.members().size(), target(spare.size() + now.members().size()));
    for (int each : now.members()) {
      if (!spare.isEmpty() && wanted.size() == now.members().size() && mustGo(each, nowNs)) {
        wanted.remove(each); // one at a time
        wanted.add(spare.remove(0));
      }
    }
    while (wanted.size() < size && !spare.isEmpty()) {
      wanted.add(spare.remove(0));
    }
    if (spare.isEmpty() && wanted.stream().anyMatch(this::leaves)) {
      return fewer(now.members());
    }
    return wanted.size() == size ? wanted : now.members();
  }

  /**
   * The members but for one that is damaged: it comes back when it has begun anew, which it may not
   * before it is none. An even number for that time survives as much as there is left to survive.
   */
  private Set<Integer> without(Set<Integer> members) {
    Set<Integer> whole = new TreeSet<>(members);
    members.stream().filter(this::isDamaged).findFirst().ifPresent(whole::remove);
    return whole.size() < members.size() && lives(whole) ? whole : members;
  }

  private boolean isDamaged(int server) {
    return cluster.server(server).filter(entry -> !entry.getDamage().isEmpty()).isPresent();
  }

  private boolean leaves(int server) {
    return cluster
        .server(server)
        .filter(entry -> entry.getState() == ServerEntry.State.DECOMMISSIONING)
        .isPresent();
  }

  /**
   * As many of those that stay as there would be in a cluster of them, this server first; all when
   * nobody would be left.
   */
  private Set<Integer> fewer(Set<Integer> members) {
    List<Integer> staying =
        members.stream()
            .filter(each -> !leaves(each) && isReached(each))
            .sorted(Comparator.comparing(each -> each != cluster.serverId()))
            .toList();
    return staying.isEmpty() ? members : new TreeSet<>(staying.subList(0, target(staying.size())));
  }

  /** An even number survives no more than the odd one below it. */
  private int target(int servers) {
    int most = Math.min(settings.members(), servers);
    return most % 2 == 0 ? most - 1 : most;
  }

  private boolean mustGo(int server, long nowNs) {
    ServerEntry entry = cluster.server(server).orElse(null);
    Long silentNs = silentSinceNs.get(server);
    return entry == null
        || entry.getState() != ServerEntry.State.UP
        || !entry.getDamage().isEmpty()
        || (silentNs != null && nowNs - silentNs >= settings.replaceAfterNs());
  }

  /** Servers that could be members, those first whose racks have none. */
  private List<Integer> spare(Set<Integer> members) {
    ServerEntry self = cluster.server(cluster.serverId()).orElse(ServerEntry.getDefaultInstance());
    Set<String> racks = new HashSet<>();
    members.forEach(each -> cluster.server(each).ifPresent(entry -> racks.add(entry.getRack())));
    List<ServerEntry> spare = new ArrayList<>();
    for (ServerEntry each : cluster.map().getServersList()) {
      if (!members.contains(each.getId())
          && ClusterMaps.canBeMember(each, self)
          && links.transportTo(each.getId()) != null) {
        spare.add(each);
      }
    }
    spare.sort(Comparator.comparing(each -> racks.contains(each.getRack())));
    return new ArrayList<>(spare.stream().map(ServerEntry::getId).toList());
  }
}
