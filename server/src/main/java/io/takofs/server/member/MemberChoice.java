package io.takofs.server.member;

import io.takofs.proto.ServerEntry;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.peer.ClusterTopology;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Chooses the servers that should be the members of a group: as many as are configured where there
 * are as many servers, in as many racks as can be, and another one instead of one that is lost,
 * damaged, leaves the cluster, or is silent for too long. It changes one member at a time, unless
 * there are too few.
 *
 * <p>Thread rule: any thread, as what it is given.
 */
final class MemberChoice {
  /** The leader's view of a server. */
  interface Sight {
    /** Whether the log could be written to it. */
    boolean hasTransport(int server);

    /** Whether it gets the log now, or is this server. */
    boolean isReached(int server);

    /** Grows with each server that learned in vain: its own when it did so last; 0 for never. */
    int lastFailure(int server);

    /** Whether a member is silent for so long that another one is to take its place. */
    boolean isGone(int server);
  }

  /** An administrator asks that {@code comes} takes the place of {@code leaves}. */
  record Replacement(int leaves, int comes) {}

  private final ClusterTopology cluster;
  private final int most;
  private final Sight sight;

  /**
   * @param most members that a group has where there are as many servers
   */
  MemberChoice(ClusterTopology cluster, int most, Sight sight) {
    this.cluster = cluster;
    this.most = most;
    this.sight = sight;
  }

  /** Whether {@code server} could become a member, if it is none. */
  private boolean canCome(int server) {
    return isFit(server) && sight.hasTransport(server);
  }

  /** Whether {@code server} is one that could be a member when it is reached. */
  boolean isFit(int server) {
    ServerEntry self = cluster.server(cluster.serverId()).orElse(ServerEntry.getDefaultInstance());
    return cluster.server(server).filter(each -> ClusterMaps.canBeMember(each, self)).isPresent();
  }

  /** Whether a majority of {@code members} gets the log now. */
  boolean lives(Set<Integer> members) {
    return 2 * members.stream().filter(sight::isReached).count() > members.size();
  }

  /**
   * The members that a group should have that has {@code members}, which are returned when there is
   * no reason for others.
   *
   * @param asked is done when it can be, and after what has to be done; null for nothing
   */
  Set<Integer> wanted(Set<Integer> members, Replacement asked) {
    List<Integer> spare = spare(members);
    Optional<Integer> gone = members.stream().filter(this::mustGo).findFirst();
    boolean askedCan =
        asked != null && members.contains(asked.leaves) && spare.contains(asked.comes);
    if (gone.isPresent() && !spare.isEmpty()) {
      Set<Integer> others = without(members, gone.get());
      if (askedCan && asked.leaves == gone.get()) {
        others.add(asked.comes);
        return grown(others, spare);
      }
      List<Integer> free = askedCan ? withoutAsked(spare, asked.comes) : spare;
      others.add(inAnotherRack(free, others));
      return grown(others, free);
    }
    if (askedCan) {
      Set<Integer> others = without(members, asked.leaves);
      others.add(asked.comes);
      return others;
    }
    if (members.stream().anyMatch(this::isDamaged)) {
      return withoutDamaged(members);
    }
    return members.stream().anyMatch(this::leaves) ? fewer(members) : grown(members, spare);
  }

  /** Adds servers where there are enough for more members. */
  private Set<Integer> grown(Set<Integer> members, List<Integer> spare) {
    Set<Integer> all = new TreeSet<>(members);
    all.addAll(spare);
    int size = Math.max(members.size(), target(all.size()));
    Set<Integer> grown = new TreeSet<>(members);
    while (grown.size() < size) {
      List<Integer> rest = new ArrayList<>(spare);
      rest.removeAll(grown);
      grown.add(inAnotherRack(rest, grown));
    }
    return grown;
  }

  /**
   * The first of {@code spare} in a rack that has none of {@code members}, else the first. A server
   * that learned in vain is not preferred for its rack.
   */
  private int inAnotherRack(List<Integer> spare, Set<Integer> members) {
    Set<String> racks = new HashSet<>();
    members.forEach(each -> racks.add(rack(each)));
    int failure = sight.lastFailure(spare.get(0));
    return spare.stream()
        .filter(each -> sight.lastFailure(each) == failure && !racks.contains(rack(each)))
        .findFirst()
        .orElse(spare.get(0));
  }

  private String rack(int server) {
    return cluster.server(server).map(ServerEntry::getRack).orElse("");
  }

  /**
   * The members but for one that is damaged: it comes back when it has begun anew, which it may not
   * before it is none. An even number for that time survives as much as there is left to survive.
   */
  private Set<Integer> withoutDamaged(Set<Integer> members) {
    int damaged = members.stream().filter(this::isDamaged).findFirst().orElseThrow();
    Set<Integer> whole = without(members, damaged);
    return lives(whole) ? whole : members;
  }

  /**
   * As many of those that stay as there would be in a cluster of them, this server first; all when
   * nobody would be left.
   */
  private Set<Integer> fewer(Set<Integer> members) {
    List<Integer> staying =
        members.stream()
            .filter(each -> !leaves(each) && sight.isReached(each))
            .sorted(Comparator.comparing(each -> each != cluster.serverId()))
            .toList();
    return staying.isEmpty() ? members : new TreeSet<>(staying.subList(0, target(staying.size())));
  }

  /** The server that is asked for has its own place, unless all others learned in vain since. */
  private List<Integer> withoutAsked(List<Integer> spare, int asked) {
    List<Integer> others = spare.stream().filter(each -> each != asked).toList();
    int failure = sight.lastFailure(asked);
    return others.stream().anyMatch(each -> sight.lastFailure(each) <= failure) ? others : spare;
  }

  private static Set<Integer> without(Collection<Integer> members, int server) {
    Set<Integer> others = new TreeSet<>(members);
    others.remove(server);
    return others;
  }

  private int target(int servers) {
    return ClusterMaps.memberCount(most, servers);
  }

  private boolean mustGo(int server) {
    ServerEntry entry = cluster.server(server).orElse(null);
    return entry == null
        || entry.getState() != ServerEntry.State.UP
        || !entry.getDamage().isEmpty()
        || sight.isGone(server);
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

  /** Servers that could be members beside {@code members}; last those that learned in vain. */
  private List<Integer> spare(Set<Integer> members) {
    return cluster.map().getServersList().stream()
        .map(ServerEntry::getId)
        .filter(each -> !members.contains(each) && canCome(each))
        .sorted(Comparator.comparingInt(sight::lastFailure))
        .toList();
  }
}
