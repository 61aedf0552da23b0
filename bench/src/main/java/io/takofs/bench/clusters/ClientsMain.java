package io.takofs.bench.clusters;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures the threads, memory and connections of a client that uses so many servers. */
@Command(
    name = "clients",
    mixinStandardHelpOptions = true,
    description =
        "Threads, memory and connections that a client has when it uses all servers of a cluster,"
            + " beyond those of its JVM before its first call.")
public final class ClientsMain implements Callable<Integer> {
  private static final double KIB_PER_MIB = 1024;

  @Option(names = "--tako", required = true, description = "The program bin/tako.")
  private Path tako;

  @Option(
      names = "--servers",
      split = ",",
      defaultValue = "1,3,16",
      description = "Servers of the clusters, one after the other (default: ${DEFAULT-VALUE}).")
  private List<Integer> servers;

  @Option(
      names = "--transports",
      split = ",",
      defaultValue = "shm,tcp",
      description = "Transports of the clients (default: ${DEFAULT-VALUE}).")
  private List<String> transports;

  @Option(
      names = "--pool-size",
      defaultValue = "256m",
      description = "Of each server (default: ${DEFAULT-VALUE}).")
  private String poolSize;

  @Option(names = "--json", description = "File to write the result to.")
  private Path json;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Entry point of {@code bin/bench --clients}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new ClientsMain()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    List<String> rows = new ArrayList<>();
    out.printf(
        "%-10s%10s%10s%10s%10s%12s%8s%8s%8s%n",
        "transport",
        "servers",
        "threads",
        "heap MiB",
        "own MiB",
        "shared MiB",
        "TCP",
        "unix",
        "files");
    for (int count : servers) {
      try (DevCluster cluster = new DevCluster(tako, count, poolSize, Map.of())) {
        for (String transport : transports) {
          ProcessCost cost = measure(cluster, transport, count);
          out.printf(
              "%-10s%10d%10d%10.1f%10.1f%12.1f%8d%8d%8d%n",
              transport,
              count,
              cost.threads(),
              cost.heap() / KIB_PER_MIB,
              cost.own() / KIB_PER_MIB,
              cost.shared() / KIB_PER_MIB,
              cost.tcp(),
              cost.local(),
              cost.descriptors());
          rows.add(json(transport, count, cost));
        }
      }
    }
    if (json != null) {
      Files.writeString(json, "[\n" + String.join(",\n", rows) + "\n]\n");
    }
    return 0;
  }

  /**
   * Runs the client in a JVM of its own, which has as many threads of its own each time, and
   * touches its heap.
   */
  private static ProcessCost measure(DevCluster cluster, String transport, int count)
      throws IOException, InterruptedException {
    Process client =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UseDynamicNumberOfCompilerThreads",
                "-Xms64m",
                "-Xmx64m",
                "-XX:+AlwaysPreTouch",
                "-cp",
                System.getProperty("java.class.path"),
                ClientProcess.class.getName(),
                cluster.uri().toString(),
                transport,
                Integer.toString(count))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))) {
      String last = null;
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        last = line;
      }
      if (client.waitFor() != 0 || last == null) {
        throw new IOException("the client over " + transport + " of " + count + " servers failed");
      }
      return ProcessCost.parse(last);
    }
  }

  private static String json(String transport, int count, ProcessCost cost) {
    return ("  {\"transport\": \"%s\", \"servers\": %d, \"threads\": %d, \"heap_kib\": %d,"
            + " \"own_kib\": %d, \"shared_kib\": %d, \"tcp\": %d, \"unix\": %d,"
            + " \"descriptors\": %d}")
        .formatted(
            transport,
            count,
            cost.threads(),
            cost.heap(),
            cost.own(),
            cost.shared(),
            cost.tcp(),
            cost.local(),
            cost.descriptors());
  }
}
