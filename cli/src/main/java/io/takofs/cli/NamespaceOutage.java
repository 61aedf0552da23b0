package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerHealth;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.report.Clusters;
import io.takofs.server.report.Spans;
import java.time.Duration;
import java.util.List;

/**
 * The server with the namespace does not answer, and another one says what it knows of the cluster.
 *
 * @param cluster as that other server knows it
 * @param failure of the call to the server with the namespace
 */
record NamespaceOutage(ClusterStatus cluster, TakoException failure) {
  /** Whether a call failed because no server with the namespace did anything about it. */
  static boolean isOutage(TakoException failure) {
    return switch (failure.status()) {
      case UNAVAILABLE, DISCONNECTED, DEADLINE_EXCEEDED, NOT_LEADER -> true;
      default -> false;
    };
  }

  /**
   * Asks the server that {@code client} reached for what it knows.
   *
   * @throws TakoException {@code failure}, where it has another reason, or nobody else answers
   */
  static NamespaceOutage after(TakoException failure, TakoClient client) throws TakoException {
    if (!isOutage(failure)) {
      throw failure;
    }
    ClusterStatus known;
    try {
      known = client.administration().clusterStatusOfFollower().orElseThrow(() -> failure);
    } catch (TakoException e) {
      if (e != failure) {
        failure.addSuppressed(e);
      }
      throw failure;
    }
    if (known.getServersCount() <= 1) {
      throw failure;
    }
    return new NamespaceOutage(marked(known), failure);
  }

  /** The other server may not have missed it yet. */
  private static ClusterStatus marked(ClusterStatus known) {
    ClusterStatus.Builder marked = known.toBuilder();
    for (ServerHealth.Builder each : marked.getServersBuilderList()) {
      if (each.getEntry().getId() == known.getLeader() && each.getTrouble().isEmpty()) {
        each.setTrouble("does not answer");
      }
    }
    return marked.build();
  }

  /** What is wrong: which server does not answer, and why. */
  String problem() {
    String server =
        cluster.getServersList().stream()
            .map(ServerHealth::getEntry)
            .filter(each -> each.getId() == cluster.getLeader())
            .map(each -> "server " + each.getId() + " at " + ClusterMaps.address(each))
            .findAny()
            .orElse("a server that server " + cluster.getServer() + " does not know");
    List<Integer> members = ClusterText.members(cluster.getGroup());
    if (cluster.getLeader() == 0 && members.size() > 1) {
      return "%s keep the namespace, and %d of them must run for one to lead: start those that do not (%s)"
          .formatted(Clusters.names(members), members.size() / 2 + 1, failure.getMessage());
    }
    return server
        + " has the namespace and does not answer: "
        + failure.getMessage()
        + " ("
        + failure.status().name()
        + ")";
  }

  /** Whose knowledge of the cluster it is, and how old. */
  String source() {
    String source = "server " + cluster.getServer() + ", which heard from the namespace's server ";
    return cluster.hasRepair()
        ? source + Spans.clock(Duration.ofMillis(cluster.getLeaderAgeMs())) + " ago"
        : source + "nothing since its start";
  }
}
