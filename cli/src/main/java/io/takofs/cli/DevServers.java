package io.takofs.cli;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.server.catalog.ClusterMaps;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Several servers of {@code tako dev}, which become a cluster when each of them has joined.
 *
 * <p>Thread rule: one thread.
 */
final class DevServers {
  private static final long JOIN_NS = TimeUnit.SECONDS.toNanos(60);
  private static final String ANSWER = "5s"; // to one look
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final DevDirectory dev;
  private final int members;

  /**
   * The cluster of a directory.
   *
   * @param added keys of its configuration that the user added
   */
  DevServers(DevDirectory dev, Map<String, String> added) {
    this.dev = dev;
    this.members =
        Integer.parseInt(
            added.getOrDefault(
                ConfigKeys.GROUP_MEMBERS.name(), ConfigKeys.GROUP_MEMBERS.defaultText()));
  }

  /**
   * Waits until all servers have joined, and until as many of them keep the namespace as should, so
   * that any one may be killed; for the latter no longer than the former may take. No command sees
   * a server before it has joined, although it serves.
   *
   * @param started those that this command started
   * @throws IOException when one of these has ended, or one has not joined in time: names it, and
   *     says why
   */
  void await(Map<DevServer, Process> started) throws IOException {
    long start = System.nanoTime();
    while (true) {
      requireAlive(started);
      try (TakoClient client = connect(dev.uri(), "fs.tako.client.timeout", ANSWER)) {
        while (!isComplete(client, started, System.nanoTime() - start)) {
          Clock.SYSTEM.pause(this, POLL_NS, () -> false);
        }
        return;
      } catch (TakoException e) {
        requireAlive(started);
        if (!NamespaceOutage.isOutage(e)) {
          throw e;
        }
        if (System.nanoTime() - start > JOIN_NS) {
          throw new TakoException(
              e.status(),
              "the servers run, and none of them leads: %s; their logs: %s"
                  .formatted(
                      e.getMessage(), dev.servers().stream().map(DevServer::logFile).toList()),
              e);
        }
      }
      Clock.SYSTEM.pause(this, POLL_NS, () -> false); // nobody leads yet: the machine may be busy
    }
  }

  private static void requireAlive(Map<DevServer, Process> started) throws IOException {
    for (Map.Entry<DevServer, Process> each : started.entrySet()) {
      each.getKey().requireAlive(each.getValue());
    }
  }

  private boolean isComplete(TakoClient client, Map<DevServer, Process> started, long waitedNs)
      throws IOException {
    requireAlive(started);
    ClusterStatus status = client.administration().clusterStatus();
    boolean isLate = waitedNs > JOIN_NS;
    for (DevServer server : dev.servers()) {
      List<ServerHealth> there = server.isReady() ? at(status, server.uri()) : List.of();
      if (there.stream().noneMatch(each -> isHeard(each, waitedNs))) {
        if (isLate) {
          throw new IOException(
              "a server has not joined the cluster in time: %s; its log: %s"
                  .formatted(trouble(there, server), server.logFile()));
        }
        return false;
      }
    }
    return isLate || isKept(status);
  }

  /** Says why it has not joined, as the one with the namespace knows, or the server itself. */
  private static String trouble(List<ServerHealth> there, DevServer server) throws IOException {
    String known = there.isEmpty() ? "" : there.get(there.size() - 1).getTrouble();
    return known.isEmpty() ? server.lastLine() : known;
  }

  /** Returns the servers at one address, oldest first: a pool that was lost leaves an entry. */
  private static List<ServerHealth> at(ClusterStatus status, URI uri) {
    return status.getServersList().stream()
        .filter(each -> ClusterMaps.address(each.getEntry()).equals(uri.getAuthority()))
        .toList();
  }

  /** Whether a server without trouble was heard of in the time. */
  private static boolean isHeard(ServerHealth server, long waitedNs) {
    return server.getHeard()
        && server.getTrouble().isEmpty()
        && TimeUnit.MILLISECONDS.toNanos(server.getHeardAgeMs()) <= waitedNs;
  }

  /** Whether as many servers keep the namespace as should. */
  private boolean isKept(ClusterStatus status) {
    List<ServerEntry> all = status.getServersList().stream().map(ServerHealth::getEntry).toList();
    ServerEntry leader =
        all.stream()
            .filter(each -> each.getId() == status.getLeader())
            .findAny()
            .orElse(ServerEntry.getDefaultInstance());
    int able =
        (int)
            all.stream()
                .filter(each -> each.equals(leader) || ClusterMaps.canBeMember(each, leader))
                .count(); // a small pool has no log for others
    int wanted = ClusterMaps.memberCount(members, able);
    long keeping =
        status.getGroup().getMembersList().stream()
            .filter(each -> each.getReached() && !each.getLearner())
            .count();
    return wanted <= 1 || keeping >= wanted;
  }

  /** The number of a server in the cluster, which follows the order in which servers joined. */
  static Optional<Integer> number(ClusterStatus status, URI uri) {
    List<ServerHealth> there = at(status, uri);
    return there.isEmpty()
        ? Optional.empty()
        : Optional.of(there.get(there.size() - 1).getEntry().getId());
  }

  /** A client of one server, as whoever calls the command; with one more key and its value. */
  static TakoClient connect(URI server, String... more) throws IOException {
    TakoConfig config = Installation.configuration();
    if (more.length > 0) {
      config.set(more[0], more[1]);
    }
    return TakoClient.connect(server, config, System.getProperty("user.name"));
  }
}
