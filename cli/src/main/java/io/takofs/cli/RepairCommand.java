package io.takofs.cli;

import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.server.report.Clusters;
import io.takofs.server.report.Counts;
import io.takofs.server.report.StuckRepair;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tako repair}. */
@Command(
    name = "repair",
    description = "Shows how far lost copies are made again, and has that go on.")
final class RepairCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Option(
      names = "--force",
      description =
          "Makes copies again although more than a third of the servers are silent, which may mean"
              + " that the network is broken: those that are silent now are not waited for until"
              + " they answer (superusers alone).")
  private boolean force;

  @Override
  public Integer call() throws Exception {
    try (TakoClient client = location.client(location.server(null))) {
      ClusterStatus before = client.administration().clusterStatus();
      RepairStatus repair = force ? client.administration().forceRepair() : before.getRepair();
      PrintWriter out = spec.commandLine().getOut();
      lines(repair).forEach(out::println);
      leaving(before).forEach(out::println);
      if (force && repair.getGoesWithoutCount() == 0) {
        out.println("nothing had to be forced: no more than a third of the servers are silent");
      }
      out.flush();
      return 0;
    }
  }

  /** The servers that leave, and what they still have. */
  static List<String> leaving(ClusterStatus cluster) {
    return cluster.getServersList().stream()
        .filter(each -> each.getEntry().getState() == ServerEntry.State.DECOMMISSIONING)
        .map(
            each ->
                "server %d leaves: %s a copy there"
                    .formatted(
                        each.getEntry().getId(),
                        Counts.text(each.getReplicas(), "slab has", "slabs have")))
        .toList();
  }

  /** What it says, for people. */
  static List<String> lines(RepairStatus repair) {
    List<String> lines = new ArrayList<>();
    if (ClusterText.isRepairing(repair)) {
      lines.add(ClusterText.repair(repair));
    } else if (repair.getWaitsForCount() == 0) { // else nobody counts what they had
      lines.add("no slab waits for a copy");
    }
    lines.addAll(StuckRepair.of(repair));
    if (repair.getWaitsForCount() > 0) {
      lines.add(
          "nothing is copied before "
              + Clusters.names(repair.getWaitsForList())
              + " answer, or tako repair --force is said");
    } else if (repair.getGoesWithoutCount() > 0) {
      lines.add("it goes on without " + Clusters.names(repair.getGoesWithoutList()));
    }
    return lines;
  }
}
