package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.TransportStatus;
import io.takofs.server.report.Connections;
import io.takofs.server.report.Counts;
import io.takofs.server.report.Sizes;
import io.takofs.server.report.Spans;
import io.takofs.server.report.StatusJson;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako status}. */
@Command(name = "status", description = "Prints the state of a data server and how it is reached.")
final class StatusCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Option(names = "--json", description = "Prints JSON, for programs.")
  private boolean json;

  @Parameters(arity = "0..1", paramLabel = "URI", description = "tako://host:port")
  private String uri;

  @Override
  public Integer call() throws Exception {
    URI server = location.serverOf(uri);
    PrintWriter out = spec.commandLine().getOut();
    try (TakoClient client = location.client(server)) {
      ServerStatus status;
      ClusterStatus cluster;
      try {
        status = client.serverStatus();
        cluster = client.administration().clusterStatus();
      } catch (TakoException e) {
        print(out, server, NamespaceOutage.after(e, client));
        return spec.exitCodeOnExecutionException();
      }
      String verdict = client.transportVerdict();
      if (json) {
        out.println(StatusJson.text(server, verdict, status, cluster));
      } else {
        print(out, server, verdict, status, cluster);
      }
      out.flush();
    }
    return 0;
  }

  private void print(PrintWriter out, URI server, NamespaceOutage outage) {
    if (json) {
      out.println(StatusJson.text(server, outage.problem(), outage.cluster()));
    } else {
      out.println("server       " + server);
      out.println("namespace    " + outage.problem());
      out.println("known to     " + outage.source());
      out.print(ClusterText.lines(outage.cluster()));
    }
    out.flush();
  }

  private static void print(
      PrintWriter out, URI server, String verdict, ServerStatus status, ClusterStatus cluster) {
    String version = ", version " + status.getVersion();
    Optional<String> leader = ClusterText.leaderElsewhere(cluster, server.getAuthority());
    out.println("server       " + server + (leader.isPresent() ? "" : version));
    leader.ifPresent(it -> out.println("leader       " + it + version + "; what follows is of it"));
    out.println("up           " + Spans.clock(Duration.ofMillis(status.getUptimeMs())));
    out.println("transport    " + verdict);
    if (!status.getHttp().isEmpty()) {
      out.println("pages        " + status.getHttp());
    }
    if (status.getSafeMode()) {
      out.println("safe mode    on: all changes are refused");
    }
    out.printf(
        "pool         %s used, %s free of %s; %s of deleted files in quarantine%n",
        Sizes.human(status.getUsage().getUsed()),
        Sizes.human(status.getUsage().getFree()),
        Sizes.human(status.getUsage().getCapacity()),
        Sizes.human(Counts.quarantineBytes(status)));
    out.printf(
        "namespace    %s (%d open), %s; %d of %d metadata pages%n",
        Counts.text(status.getFiles(), "file", "files"),
        status.getOpenFiles(),
        Counts.text(status.getDirectories(), "directory", "directories"),
        status.getMetadataPagesUsed(),
        status.getMetadataPagesTotal());
    out.printf(
        "log          entry %d in %s, checkpoint %s%n",
        status.getLogLastIndex(),
        Counts.text(status.getLogSegments(), "segment", "segments"),
        status.getCheckpointIndex() == 0 ? "none yet" : "at entry " + status.getCheckpointIndex());
    out.print(ClusterText.lines(cluster));
    out.println("connections  " + Connections.count(status));
    for (ConnectionStatus connection : status.getConnectionsList()) {
      out.printf(
          "  %-4s %s as %s, %s (%s)%n",
          connection.getTransport(),
          connection.getClientName(),
          connection.getUser(),
          Counts.text(connection.getCalls(), "call", "calls"),
          connection.getRemote());
    }
    if (Connections.leftOut(status) > 0) {
      out.println("  and " + Connections.leftOut(status) + " more");
    }
    out.println("counters");
    print(out, status.getCountersMap());
    for (TransportStatus transport : status.getTransportsList()) {
      if (transport.getCountersMap().values().stream().anyMatch(value -> value != 0)) {
        out.println("counters of " + transport.getTransport());
        print(out, transport.getCountersMap());
      }
    }
  }

  private static void print(PrintWriter out, Map<String, Long> counters) {
    new TreeMap<>(counters).forEach((name, value) -> out.printf("  %-40s %d%n", name, value));
  }
}
