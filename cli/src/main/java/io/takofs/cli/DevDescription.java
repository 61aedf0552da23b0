package io.takofs.cli;

import io.takofs.client.TakoClient;
import io.takofs.config.Units;
import io.takofs.layout.Layout;
import io.takofs.proto.ClusterStatus;
import io.takofs.server.pool.Pool;
import io.takofs.server.report.Sizes;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Describes the servers of {@code tako dev} that run: where they are, and how to use them.
 *
 * @param poolSize that its user asked for; null where none was named
 */
record DevDescription(DevDirectory dev, String poolSize) {
  /**
   * Prints it.
   *
   * @throws IOException when no server answers
   */
  void print(PrintWriter out) throws IOException {
    URI uri = dev.uri();
    List<DevServer> all = dev.servers();
    try (TakoClient client = DevServers.connect(uri)) {
      out.println("Tako serves at  " + (all.size() == 1 ? uri : named(all, client)));
      out.println("configuration   export HADOOP_CONF_DIR=" + quoted(dev.configuration()));
      out.println(
          "                (for Hadoop's programs; `tako fs` takes --dir or TAKO_URI instead)");
      out.println("transport       " + TransportVerdict.verdict(uri));
      String pages = client.serverStatus().getHttp();
      if (!pages.isEmpty()) {
        out.println("pages           " + pages);
      }
    }
    printPoolSize(out);
    for (DevServer server : all) {
      out.println("log             " + server.logFile());
    }
    String tako = quoted(Installation.command());
    out.println("try             " + tako + " fs -ls " + uri + "/");
    if (all.size() > 1) {
      out.println("                " + tako + " cluster status --conf " + quoted(dev.site()));
    }
    out.println("stop            " + tako + " dev stop --dir " + quoted(dev.path()));
    out.flush();
  }

  /** The servers of a cluster, with the numbers and processes by which other commands name them. */
  private static String named(List<DevServer> all, TakoClient client) throws IOException {
    ClusterStatus status = client.administration().clusterStatus();
    StringBuilder lines = new StringBuilder();
    for (DevServer server : all) {
      if (!server.isReady()) {
        continue; // another command is about to start it
      }
      lines
          .append(lines.isEmpty() ? "" : System.lineSeparator() + "and at          ")
          .append(server.uri())
          .append(" (");
      DevServers.number(status, server.uri())
          .ifPresent(number -> lines.append("server ").append(number).append(", "));
      Optional<ProcessHandle> process = server.process();
      lines.append(process.isPresent() ? "process " + process.get().pid() : "stopped").append(')');
    }
    for (String warning : status.getWarningsList()) {
      lines.append(System.lineSeparator()).append("warning         ").append(warning);
    }
    return lines.toString();
  }

  /** Says that the pool is of another size than its user asked for, if it is. */
  private void printPoolSize(PrintWriter out) throws IOException {
    Optional<Path> path = dev.first().pool();
    if (poolSize == null || path.isEmpty()) {
      return;
    }
    long size = Pool.size(path.get());
    long missing = Units.parseSize(poolSize) - size;
    if (missing < 0 || missing >= Layout.POOL_ALIGN) { // sizes are rounded down
      out.printf(
          "pool            %s has %s and keeps that size, whatever --pool-size says: a new one is"
              + " made after `%s dev stop`, which deletes it and its files%n",
          path.get(), Sizes.human(size), Installation.command());
    }
  }

  /** A word as a shell takes it, in quotes when it has what a shell would not take for itself. */
  private static String quoted(Object word) {
    String text = word.toString();
    return text.matches("[\\w/.:=@%+,-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }
}
