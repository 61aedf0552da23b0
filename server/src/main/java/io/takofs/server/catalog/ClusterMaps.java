package io.takofs.server.catalog;

import io.takofs.base.TakoException;
import io.takofs.config.ServerList;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerEntry.State;
import io.takofs.proto.Status;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.peer.Terms;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The changes of a cluster's map, as functions of it. Each returns the next map, its epoch one
 * more, or the same object when there is nothing to change.
 */
public final class ClusterMaps {
  /** More changes, starts of a leader, and new servers than there are between a copy and a loss. */
  private static final int SINCE_COPY = 10_000;

  private ClusterMaps() {}

  /** The address of the process that holds the session of a server; empty when none does. */
  @FunctionalInterface
  public interface Holders {
    Optional<String> of(int server) throws TakoException;
  }

  /**
   * The first map, without servers and groups.
   *
   * @param clusterId random, not 0
   */
  public static ClusterMap init(long clusterId, String name) {
    return ClusterMap.newBuilder().setClusterId(clusterId).setName(name).setEpoch(1).build();
  }

  /**
   * The map after {@code server} registered: a new server, or one that started again, maybe at
   * another address. A process that registers again, because its session had ended, say, keeps the
   * mark of what is damaged ({@link #damaged}): it has found that, or mended it, since its start.
   *
   * @throws TakoException that {@code holders} throws; INVALID_ARGUMENT when it belongs to another
   *     cluster or was removed from this one; ALREADY_EXISTS when its pool, or its address, is that
   *     of another server that lives
   */
  public static ClusterMap register(ClusterMap map, Registration server, Holders holders)
      throws TakoException {
    checkCluster(map, server);
    Optional<ServerEntry> known =
        map.getServersList().stream()
            .filter(each -> each.getPoolId() == server.entry().getPoolId())
            .findAny();
    if (known.isPresent()) {
      checkSamePool(known.get(), server, holders);
    } else if (server.serverId() != 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          ("this server was server %d of cluster %s, which has removed it: stop it,"
                  + " remove the directory of its pool (fs.tako.server.pool.path), and start it"
                  + " once with `tako server --format` for a new pool")
              .formatted(server.serverId(), map.getName()));
    }
    int id = known.isPresent() ? known.get().getId() : map.getLastServerId() + 1;
    State state = known.map(ServerEntry::getState).orElse(State.UP);
    ServerEntry entry =
        server.entry().toBuilder()
            .setId(id)
            .setState(state == State.LOST ? State.UP : state) // Its memory is back.
            .setDamage(
                known
                    .filter(former -> former.getEpoch() == server.entry().getEpoch())
                    .map(ServerEntry::getDamage)
                    .orElse(server.entry().getDamage()))
            .build();
    List<ServerEntry> servers = new ArrayList<>();
    for (ServerEntry each : map.getServersList()) {
      servers.add(each.getId() == id ? entry : withoutAddress(each, server, holders));
    }
    if (known.isEmpty()) {
      servers.add(entry);
    }
    ClusterMap next = next(map, servers);
    return known.isEmpty() ? withGroupsOfLost(next, entry) : next;
  }

  /**
   * A group whose only member lost its pool goes to the server that has the member's address now,
   * and begins empty, as a server alone does: with another namespace.
   */
  private static ClusterMap withGroupsOfLost(ClusterMap map, ServerEntry joined) {
    ClusterMap.Builder next = map.toBuilder();
    for (ServerEntry former : map.getServersList()) {
      if (former.getState() != State.LOST || !address(former).equals(address(joined))) {
        continue;
      }
      for (GroupEntry.Builder group : next.getGroupsBuilderList()) {
        // A configuration that is not active may have others who kept the former one.
        boolean only = group.getActive() || group.getPreviousCount() == 0;
        if (only && group.getMembersList().equals(List.of(former.getId()))) {
          group
              .setMembers(0, joined.getId())
              .setTerm(Terms.nextNamespace(group.getTerm()))
              .setConfigEpoch(group.getConfigEpoch() + 1)
              .clearPrevious()
              .setActive(false);
        }
      }
    }
    return next.build();
  }

  private static void checkCluster(ClusterMap map, Registration server) throws TakoException {
    if (server.clusterId() != 0 && server.clusterId() != map.getClusterId()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          ("the pool of this server belongs to cluster %016x, the catalog is that of cluster %016x"
                  + " (%s): correct fs.tako.cluster.servers, or stop it, remove the directory of its pool"
                  + " (fs.tako.server.pool.path), and start it once with `tako server --format`"
                  + " for a new pool")
              .formatted(server.clusterId(), map.getClusterId(), map.getName()));
    }
  }

  private static void checkSamePool(ServerEntry known, Registration server, Holders holders)
      throws TakoException {
    checkHolder(holders.of(known.getId()), server);
    if (server.entry().getEpoch() < known.getEpoch()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          ("the pool %016x of this server is in its incarnation %d, but incarnation %d of it has"
                  + " registered from %s: it is an old copy; remove it and start with --format")
              .formatted(
                  known.getPoolId(), server.entry().getEpoch(), known.getEpoch(), address(known)));
    }
  }

  /**
   * Refuses the server that registers second, be it the copy or the original: the catalog cannot
   * tell which one it is.
   *
   * @param holder of the session of {@code server}
   */
  static void checkHolder(Optional<String> holder, Registration server) throws TakoException {
    if (holder.isPresent() && !holder.get().equals(server.address())) {
      throw new TakoException(
          Status.ALREADY_EXISTS,
          ("two servers have the same pool %016x, this one (%s) and the one at %s, which joined"
                  + " first. If that is this server's former address, it joins within 10 s. If not,"
                  + " one pool is a copy of the other: keep the one with the data that is to stay,"
                  + " stop the server of the copy and remove the copy")
              .formatted(server.entry().getPoolId(), server.address(), holder.get()));
    }
  }

  /** A server at an address that is another's now is lost: its pool is not there any more. */
  private static ServerEntry withoutAddress(
      ServerEntry former, Registration server, Holders holders) throws TakoException {
    boolean there = former.getState() == State.UP || former.getState() == State.DECOMMISSIONING;
    if (!there || !address(former).equals(server.address())) {
      return former;
    }
    if (holders.of(former.getId()).isPresent()) {
      throw new TakoException(
          Status.ALREADY_EXISTS,
          ("server %d with another pool lives at %s: give this server an address of its own, or"
                  + " wait until that one's session is over")
              .formatted(former.getId(), server.address()));
    }
    return former.toBuilder().setState(State.LOST).build();
  }

  /**
   * The map with another state of a server.
   *
   * @throws TakoException NOT_FOUND when there is no such server; INVALID_ARGUMENT when it is a
   *     member of a group and may not leave
   */
  public static ClusterMap mark(ClusterMap map, int id, State state) throws TakoException {
    ServerEntry server = server(map, id);
    if (state == State.DECOMMISSIONING) {
      checkMayLeave(map, server);
    } else if (state == State.DECOMMISSIONED) {
      checkNoMember(map, id);
    }
    return replace(map, server.toBuilder().setState(state).build());
  }

  /**
   * The map without a server.
   *
   * @throws TakoException NOT_FOUND when there is no such server; INVALID_ARGUMENT when it is a
   *     member of a group, or still has something
   */
  public static ClusterMap remove(ClusterMap map, int id) throws TakoException {
    ServerEntry server = server(map, id);
    checkNoMember(map, id);
    if (server.getState() == State.UP || server.getState() == State.DECOMMISSIONING) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server %d at %s is %s: it can be removed once it is DECOMMISSIONED or LOST"
              .formatted(id, address(server), server.getState()));
    }
    List<ServerEntry> left = new ArrayList<>(map.getServersList());
    left.remove(server);
    return next(map, left);
  }

  /**
   * The map with one more group.
   *
   * @throws TakoException NOT_FOUND when a member is no server; INVALID_ARGUMENT when there is
   *     none, or one twice
   */
  public static ClusterMap addGroup(ClusterMap map, List<Integer> members) throws TakoException {
    if (members.isEmpty() || members.stream().distinct().count() < members.size()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "a group has different servers as members, not " + members);
    }
    for (int member : members) {
      server(map, member);
    }
    int last = map.getGroupsList().stream().mapToInt(GroupEntry::getId).max().orElse(0);
    return map.toBuilder()
        .setEpoch(map.getEpoch() + 1)
        .addGroups(
            GroupEntry.newBuilder()
                .setId(last + 1)
                .addAllMembers(members)
                .setTerm(server(map, members.get(0)).getEpoch()) // its terms while it was alone
                .setConfigEpoch(1))
        .build();
  }

  /** The map in which a leader has committed an entry in configuration {@code epoch} of a group. */
  public static ClusterMap activate(ClusterMap map, int id, long epoch) {
    return changeGroup(
        map,
        id,
        group -> {
          if (group.getConfigEpoch() == epoch) {
            group.setActive(true).clearCopiedEpochs();
          }
        });
  }

  /**
   * The map in which a group has other members than in configuration {@code epoch}; the same map
   * when that is not the newest, or not active, or a new member is damaged: it may have forgotten
   * what it promised in this one.
   *
   * @throws TakoException NOT_FOUND when a member is no server
   */
  public static ClusterMap changeMembers(ClusterMap map, int id, long epoch, Set<Integer> members)
      throws TakoException {
    Set<Integer> damaged = new HashSet<>();
    for (int member : members) {
      if (isDamaged(map, member)) {
        damaged.add(member);
      }
    }
    return changeGroup(
        map,
        id,
        group -> {
          if (group.getConfigEpoch() == epoch
              && group.getActive()
              && group.getMembersList().containsAll(damaged)) {
            group
                .clearPrevious()
                .addAllPrevious(group.getMembersList())
                .clearMembers()
                .addAllMembers(members)
                .setConfigEpoch(epoch + 1)
                .setActive(false);
          }
        });
  }

  private static ClusterMap changeGroup(
      ClusterMap map, int id, Consumer<GroupEntry.Builder> change) {
    ClusterMap.Builder next = map.toBuilder();
    next.getGroupsBuilderList().stream().filter(group -> group.getId() == id).forEach(change);
    return next.getGroupsList().equals(map.getGroupsList())
        ? map
        : next.setEpoch(map.getEpoch() + 1).build();
  }

  /**
   * The map of a copy, made good for what happened after the copy was made: epochs, terms and ids
   * of servers that were given since are not given again. Members that a group got since are not
   * known: members that know of them refuse the configuration that follows from such a copy.
   */
  static ClusterMap restored(ClusterMap copy) {
    ClusterMap.Builder next =
        copy.toBuilder()
            .setEpoch(copy.getEpoch() + SINCE_COPY)
            .setLastServerId(copy.getLastServerId() + SINCE_COPY);
    for (GroupEntry.Builder group : next.getGroupsBuilderList()) {
      if (group.getActive()) { // else those of the configuration before may still commit alone
        group.clearPrevious().addAllPrevious(group.getMembersList());
      }
      group
          .addCopiedEpochs(group.getConfigEpoch())
          .setTerm(group.getTerm() + SINCE_COPY)
          .setConfigEpoch(group.getConfigEpoch() + SINCE_COPY)
          .setActive(false);
    }
    return next.build();
  }

  /**
   * The server of an id.
   *
   * @throws TakoException NOT_FOUND
   */
  public static ServerEntry server(ClusterMap map, int id) throws TakoException {
    for (ServerEntry server : map.getServersList()) {
      if (server.getId() == id) {
        return server;
      }
    }
    throw new TakoException(
        Status.NOT_FOUND,
        "cluster %s has no server %d: `tako cluster status` lists them"
            .formatted(map.getName(), id));
  }

  /** {@code host:port} of a server. */
  public static String address(ServerEntry server) {
    return ServerList.address(server.getHost(), server.getPort());
  }

  /** Whether {@code server} is one of those that keep the namespace. */
  public static boolean isMember(ClusterMap map, int server) {
    return map.getGroupsList().stream().anyMatch(group -> group.getMembersList().contains(server));
  }

  /**
   * How many of {@code servers} keep the namespace, if all of them can: an even number survives no
   * more than the odd one below it.
   *
   * @param most as configured ({@code fs.tako.group.members})
   */
  public static int memberCount(int most, int servers) {
    return (Math.min(most, servers) - 1) / 2 * 2 + 1;
  }

  /**
   * Whether {@code server} could keep the namespace that {@code member} keeps: its log is large
   * enough, and it has as many metadata pages, from which follows what is admitted.
   */
  public static boolean canBeMember(ServerEntry server, ServerEntry member) {
    return server.getState() == State.UP
        && server.getLogSegments() >= GroupConfig.SEGMENTS_MIN
        && server.getMetadataPages() == member.getMetadataPages()
        && server.getDamage().isEmpty();
  }

  /**
   * The map that says what is damaged at a server; the same one when there is no such server.
   *
   * @param damage empty for nothing, after a server has begun anew what was
   */
  public static ClusterMap damaged(ClusterMap map, int id, String damage) {
    for (ServerEntry server : map.getServersList()) {
      if (server.getId() == id) {
        return replace(map, server.toBuilder().setDamage(damage).build());
      }
    }
    return map;
  }

  /** Whether each group has members beside {@code server}. */
  public static boolean hasOtherMembers(ClusterMap map, int server) {
    return map.getGroupsCount() > 0
        && map.getGroupsList().stream()
            .allMatch(
                group -> group.getMembersList().stream().anyMatch(member -> member != server));
  }

  /**
   * Whether those members of each group that are whole, and in the cluster, can have a leader if
   * {@code server} never counts again.
   */
  public static boolean goesOnWithout(ClusterMap map, int server) {
    Set<Integer> whole = new HashSet<>();
    for (ServerEntry each : map.getServersList()) {
      boolean there = each.getState() == State.UP || each.getState() == State.DECOMMISSIONING;
      if (there && each.getId() != server && each.getDamage().isEmpty()) {
        whole.add(each.getId());
      }
    }
    for (GroupEntry group : map.getGroupsList()) {
      if (!isMajority(whole, group.getMembersList())
          || (!group.getActive() && !isMajority(whole, group.getPreviousList()))) {
        return false;
      }
    }
    return map.getGroupsCount() > 0;
  }

  private static boolean isMajority(Set<Integer> those, List<Integer> of) {
    return of.isEmpty() || 2 * of.stream().filter(those::contains).count() > of.size();
  }

  private static boolean isDamaged(ClusterMap map, int id) throws TakoException {
    return !server(map, id).getDamage().isEmpty();
  }

  private static void checkMayLeave(ClusterMap map, ServerEntry server) throws TakoException {
    boolean others =
        map.getServersList().stream()
            .anyMatch(
                each ->
                    each.getId() != server.getId()
                        && each.getState() == State.UP
                        && (isMember(map, each.getId()) || canBeMember(each, server)));
    if (isMember(map, server.getId()) && !others) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server %d has the namespace, and no other server could keep it, so it cannot leave: another must be UP with a log of %d segments and as many metadata pages (fs.tako.server.pool.size)"
              .formatted(server.getId(), GroupConfig.SEGMENTS_MIN));
    }
  }

  private static void checkNoMember(ClusterMap map, int id) throws TakoException {
    if (isMember(map, id)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "server %d keeps the namespace and cannot leave before another one keeps it instead: tako group status"
              .formatted(id));
    }
  }

  private static ClusterMap replace(ClusterMap map, ServerEntry server) {
    List<ServerEntry> servers = new ArrayList<>();
    for (ServerEntry each : map.getServersList()) {
      servers.add(each.getId() == server.getId() ? server : each);
    }
    return next(map, servers);
  }

  private static ClusterMap next(ClusterMap map, List<ServerEntry> servers) {
    if (servers.equals(map.getServersList())) {
      return map;
    }
    int last = servers.stream().mapToInt(ServerEntry::getId).max().orElse(0);
    return map.toBuilder()
        .setEpoch(map.getEpoch() + 1)
        .setLastServerId(Math.max(map.getLastServerId(), last))
        .clearServers()
        .addAllServers(servers)
        .build();
  }
}
