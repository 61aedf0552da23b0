package io.takofs.cli;

import io.takofs.client.TakoClient;
import io.takofs.proto.LeaseInfo;
import io.takofs.proto.Leases;
import io.takofs.server.report.Spans;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako leases}. */
@Command(
    name = "leases",
    description =
        "Lists the files open for writing, by the path they were opened by: who writes them, and for"
            + " how long. Users other than superusers see only their own.")
final class LeasesCommand implements Callable<Integer> {
  private static final String ROW = "%-9s %-9s %-12s %-24s %s%n";

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Parameters(arity = "0..1", paramLabel = "URI", description = "tako://host:port")
  private String uri;

  @Override
  public Integer call() throws Exception {
    URI server = location.serverOf(uri);
    PrintWriter out = spec.commandLine().getOut();
    try (TakoClient client = location.client(server)) {
      out.printf(ROW, "OPEN", "SILENT", "USER", "CLIENT", "PATH");
      long after = 0;
      do {
        Leases page = client.administration().leases(after);
        page.getLeasesList().forEach(lease -> print(out, lease));
        after = page.getNextAfter();
      } while (after != 0);
    }
    out.flush();
    return 0;
  }

  /** A path that begins with dots was opened before the server started. */
  private static void print(PrintWriter out, LeaseInfo lease) {
    out.printf(
        ROW,
        Spans.clock(Duration.ofMillis(lease.getOpenMs())),
        Spans.clock(Duration.ofMillis(lease.getSilentMs())),
        lease.getUser(),
        lease.getClientName().isEmpty() ? "not connected" : lease.getClientName(),
        lease.getPath().isEmpty() ? ".../" + lease.getName() : lease.getPath());
  }
}
