package io.takofs.system;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.layout.Layout;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.ServerStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/** What the namespace's server says of the copies that it keeps. */
final class ClusterHealth {
  /** The report is made anew only every 3 s. */
  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private ClusterHealth() {}

  /**
   * Waits until {@code servers} servers are well and all slabs are open with all replicas, none of
   * them at another server. Each server must have answered since: the report may be older than what
   * has just happened.
   */
  static void awaitCopies(TakoClient client, int servers, Duration limit) throws Exception {
    long begin = System.nanoTime();
    await(
        client,
        "all copies of everything on " + servers + " servers",
        limit,
        status -> {
          long beganMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
          return hasCopies(status, servers, beganMs);
        });
  }

  /**
   * Waits until each of {@code servers} servers has handed out just the slabs that the group has
   * there, in its records or ready to become such: another one would be lost, although no file uses
   * it. Each server must have answered since, as in {@link #awaitCopies}.
   */
  static void awaitNoSlabLost(TakoClient client, int servers, Duration limit) throws Exception {
    long begin = System.nanoTime();
    await(
        client,
        "servers have handed out what the group has",
        limit,
        status -> {
          long beganMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
          ServerStatus leader = serverStatus(client);
          List<ServerHealth> well = well(status);
          return well.size() == servers
              && well.stream()
                  .allMatch(
                      server ->
                          isFresh(server, beganMs)
                              && handedOut(server) == server.getReplicas() + spare(leader, server));
        });
  }

  /** How much of each server is handed out. */
  static List<Double> usedShares(ClusterStatus status) {
    return status.getServersList().stream()
        .map(server -> (double) server.getUsage().getUsed() / server.getUsage().getCapacity())
        .toList();
  }

  private static boolean isFresh(ServerHealth server, long beganMs) {
    return server.getHeard() && server.getHeardAgeMs() < Math.max(1, beganMs);
  }

  /** Rounded up: of an arena the first slab is short, and so may the last one be. */
  private static long handedOut(ServerHealth server) {
    return (server.getUsage().getUsed() + Layout.SLAB_SIZE - 1) / Layout.SLAB_SIZE;
  }

  /** Slabs that the server has handed out and that are in no slab of the group yet. */
  private static long spare(ServerStatus leader, ServerHealth server) {
    return leader.getCountersOrDefault("slabs.spare." + server.getEntry().getId(), 0);
  }

  private static ServerStatus serverStatus(TakoClient client) {
    try {
      return client.serverStatus();
    } catch (TakoException e) {
      throw new AssertionError("the namespace's server has no status", e);
    }
  }

  /** Waits until {@code servers} servers are well. */
  static void awaitServers(TakoClient client, int servers, Duration limit) throws Exception {
    await(client, servers + " servers", limit, status -> well(status).size() == servers);
  }

  /** Waits until the status of the cluster is such; a failure says what it is. */
  static void await(
      TakoClient client, String what, Duration limit, Predicate<ClusterStatus> condition)
      throws Exception {
    try {
      Poll.until(
          what, limit, INTERVAL_NS, () -> condition.test(client.administration().clusterStatus()));
    } catch (AssertionError e) {
      throw new AssertionError(
          e.getMessage() + "; it says\n" + client.administration().clusterStatus(), e);
    }
  }

  /** The server that leads the namespace, once there is one. */
  static ServerProcess awaitLeader(TakoClient client, ServerCluster cluster, Duration limit)
      throws Exception {
    AtomicReference<ServerProcess> leader = new AtomicReference<>();
    await(
        client,
        "a server that leads",
        limit,
        status -> {
          find(status, status.getLeader(), cluster).ifPresent(leader::set);
          return leader.get() != null;
        });
    return leader.get();
  }

  private static Optional<ServerProcess> find(ClusterStatus status, int id, ServerCluster cluster) {
    return status.getServersList().stream()
        .map(ServerHealth::getEntry)
        .filter(entry -> entry.getId() == id)
        .flatMap(
            entry ->
                cluster.servers().stream()
                    .filter(server -> server.uri().getPort() == entry.getPort()))
        .findFirst();
  }

  /** What is said of one server. */
  static ServerHealth of(TakoClient client, ServerProcess server) throws TakoException {
    return client.administration().clusterStatus().getServersList().stream()
        .filter(each -> each.getEntry().getPort() == server.uri().getPort())
        .findFirst()
        .orElseThrow();
  }

  /** The bytes that a server of the cluster has for data. */
  static long dataBytes(TakoClient client, ServerProcess server) throws TakoException {
    return of(client, server).getEntry().getDataBytes();
  }

  private static List<ServerHealth> well(ClusterStatus status) {
    return status.getServersList().stream()
        .filter(server -> server.getEntry().getState() == ServerEntry.State.UP)
        .filter(server -> server.getHeard() && server.getTrouble().isEmpty())
        .toList();
  }

  /** A slab with fewer replicas than wanted is "short", and not "open". */
  private static boolean hasCopies(ClusterStatus status, int servers, long beganMs) {
    List<ServerHealth> well = well(status);
    return well.size() == servers
        && well.stream().allMatch(server -> isFresh(server, beganMs))
        && status.getServersList().stream()
            .allMatch(server -> well.contains(server) || server.getReplicas() == 0)
        && status.getSlabsList().stream().allMatch(state -> state.getState().equals("open"))
        && status.getRepair().getSlabsWaiting() == 0
        && status.getRepair().getSlabsCopiedNow() == 0;
  }
}
