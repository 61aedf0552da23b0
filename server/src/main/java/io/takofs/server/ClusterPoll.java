package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GetClusterStatus;
import io.takofs.proto.GetServerStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.peer.DataServers;
import io.takofs.server.report.ClusterReport;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Asks other servers how they are, again and again: the leader asks all of them, the others ask the
 * leader, which knows. A server is asked again when it has answered.
 *
 * <p>Thread rule: the owner of {@link DataServers}.
 */
final class ClusterPoll {
  private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(3);

  /** A twentieth of the time at most is spent on reports. */
  private static final int REST = 19;

  private static final Request STATUS =
      Request.newBuilder().setGetServerStatus(GetServerStatus.getDefaultInstance()).build();
  private static final Request CLUSTER =
      Request.newBuilder().setGetClusterStatus(GetClusterStatus.getDefaultInstance()).build();

  private final Cluster cluster;
  private final DataServers servers;
  private final ClusterReport report;
  private final Clock clock;
  private final Set<Integer> asked = new TreeSet<>();
  private final Supplier<ClusterStatus> ofGroup;
  private long askedNs;
  private boolean started;
  private long reportedNs; // when the report was made last
  private long restNs;
  private boolean reported;

  /**
   * @param ofGroup what the leader knows of its group; asked where this server leads
   */
  ClusterPoll(
      Cluster cluster,
      DataServers servers,
      ClusterReport report,
      Clock clock,
      Supplier<ClusterStatus> ofGroup) {
    this.ofGroup = ofGroup;
    this.cluster = cluster;
    this.servers = servers;
    this.report = report;
    this.clock = clock;
  }

  /** Takes what was answered, and asks when it is time to. */
  void tick() {
    servers.deliver();
    long now = clock.nanoTime();
    if (started && now - askedNs < PERIOD_NS) {
      return;
    }
    started = true;
    askedNs = now;
    int self = cluster.serverId();
    int leader = leader();
    refresh();
    for (ServerEntry each : servers.servers()) {
      boolean other =
          self != 0 && each.getId() != self && each.getState() != ServerEntry.State.LOST;
      boolean mayKnow =
          leader == 0 ? ClusterMaps.isMember(cluster.map(), each.getId()) : each.getId() == leader;
      if (other && (leader == self || mayKnow) && asked.add(each.getId())) {
        servers.call(
            each.getId(),
            leader == self ? STATUS : CLUSTER,
            reply -> onAnswer(each.getId(), reply));
      }
    }
  }

  /**
   * The leader knows of its group at any time, so its answers say what is so and not what was. That
   * takes a walk through all slabs, for which the group's lock is held: one comes after a rest of
   * {@link #REST} times as long, however often somebody asks.
   */
  void refresh() {
    long beganNs = clock.nanoTime();
    if (leader() == cluster.serverId() && (!reported || beganNs - reportedNs >= restNs)) {
      report.ofGroup(ofGroup.get());
      reported = true;
      reportedNs = clock.nanoTime();
      restNs = REST * (reportedNs - beganNs);
    }
  }

  private int leader() {
    return cluster.leader(ClusterTopology.NAMESPACE_GROUP).map(ServerEntry::getId).orElse(0);
  }

  private void onAnswer(int server, Reply reply) {
    asked.remove(server);
    if (reply.getStatus() != Status.OK) {
      if (server == leader()) {
        cluster.heardOfLeader(0); // another may lead by now: the members know
      }
      report.refused(server, reply.getMessage());
    } else if (reply.hasClusterStatus()) {
      cluster.heardOfLeader(reply.getClusterStatus().getLeader());
      if (reply.getClusterStatus().getLeader() == server) {
        report.leaderAnswered(server, reply.getClusterStatus());
      }
    } else {
      report.answered(server, reply.getServerStatus());
    }
  }
}
