package io.takofs.cli;

import io.takofs.client.TakoClient;
import io.takofs.proto.ServerStatus;
import java.io.PrintWriter;
import java.net.URI;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako top}. */
@Command(
    name = "top",
    description = "Shows what a server does now: operations, latencies, bytes, clients.")
final class TopCommand implements Callable<Integer> {
  /** Moves to the first line; what is below the cursor goes. */
  private static final String HOME = "\u001b[H";

  private static final String CLEAR_BELOW = "\u001b[J";
  private static final String CLEAR_TO_END_OF_LINE = "\u001b[K";
  private static final double MS = 1e3;

  /** Seconds. More often than that the measuring is what the server is busy with. */
  private static final double SHORTEST_INTERVAL = 0.1;

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Option(names = "--once", description = "Measures one interval, prints it and ends.")
  private boolean once;

  @Option(
      names = "--interval",
      defaultValue = "2",
      paramLabel = "SECONDS",
      description = "Time between two measurements, at least 0.1 (default: ${DEFAULT-VALUE}).")
  private double interval;

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "Ends after N measurements (default: goes on until it is interrupted).")
  private int count;

  @Parameters(arity = "0..1", paramLabel = "URI", description = "tako://host:port")
  private String uri;

  @Override
  public Integer call() throws Exception {
    if (!(interval >= SHORTEST_INTERVAL)) { // not a number is refused too
      throw new ParameterException(
          spec.commandLine(),
          "--interval " + interval + ": must be at least " + SHORTEST_INTERVAL + " seconds");
    }
    URI server = location.serverOf(uri);
    boolean terminal = !once && Boolean.getBoolean("tako.terminal");
    PrintWriter out = spec.commandLine().getOut();
    try (TakoClient client = location.client(server)) {
      ServerStatus before = client.serverStatus();
      for (int look = 1; ; look++) {
        TimeUnit.MILLISECONDS.sleep(Math.max(1, Math.round(interval * MS)));
        ServerStatus now = client.serverStatus();
        print(
            out,
            terminal,
            TopView.text(
                server, before, now, ClusterText.summary(client.administration().clusterStatus())));
        if (once || look == count) {
          return 0;
        }
        before = now;
      }
    }
  }

  private static void print(PrintWriter out, boolean terminal, String view) {
    if (terminal) {
      out.print(HOME + view.replace("\n", CLEAR_TO_END_OF_LINE + "\n") + CLEAR_BELOW);
    } else {
      out.print(view);
    }
    out.flush();
  }
}
