package io.takofs.bench.clusters;

import io.takofs.bench.report.CpuTime;
import io.takofs.bench.report.Figure;
import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Report;
import io.takofs.bench.report.Row;
import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures how fast lost copies are made again, beside what the transport alone moves, or what a
 * client loses meanwhile.
 */
@Command(
    name = "repair",
    mixinStandardHelpOptions = true,
    description =
        "Files with two copies on three data servers, one of which is killed: how fast the others"
            + " make its copies again, beside as many bytes over the bare transport before and"
            + " after.")
public final class RepairMain implements Callable<Integer> {
  private static final String BARE = "bare transport";
  private static final String COPYING = "repair";
  private static final String DETECTED = "from detection";
  private static final String ALONE = "alone";
  private static final String BESIDE = "beside a repair";

  /** Share of what a server was to keep that a repair must copy: placement is not even. */
  private static final int LEAST_SHARE = 3;

  private static final long WARM_UP_MS = 5000;

  @Option(names = "--tako", required = true, description = "The program bin/tako.")
  private Path tako;

  @Option(
      names = "--transports",
      split = ",",
      defaultValue = "shm,tcp",
      description = "Of client and servers (default: ${DEFAULT-VALUE}).")
  private List<String> transports;

  @Option(
      names = "--mebibytes",
      defaultValue = "1024",
      description =
          "Of copies that each server would keep if they were spread evenly (default:"
              + " ${DEFAULT-VALUE}).")
  private int mebibytes;

  @Option(
      names = "--bandwidth",
      description =
          "fs.tako.repair.bandwidth of the servers, such as 100m; 0 for no limit (default: 0, with"
              + " --beside that of the servers).")
  private String bandwidth;

  @Option(
      names = "--beside",
      description =
          "Measure a client that writes and reads files of 64 MiB with two copies, during the repair"
              + " and for as long after it, instead of the repair.")
  private boolean beside;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description =
          "Repairs of each transport that count (default: ${DEFAULT-VALUE}); one that does not comes"
              + " first, so that servers have compiled what they run.")
  private int rounds;

  @Option(
      names = "--timeout",
      defaultValue = "300",
      description = "Seconds that a repair may take (default: ${DEFAULT-VALUE}).")
  private long timeoutSeconds;

  @Option(names = "--json", description = "File to write the result to.")
  private Path json;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Entry point of {@code bin/bench --repair}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new RepairMain()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    List<String> names = beside ? List.of(ALONE, BESIDE) : List.of(BARE, COPYING, DETECTED);
    Map<Row, Map<String, Measurement>> results = new LinkedHashMap<>();
    for (String transport : transports) {
      Map<String, Measurement> measured = measurements(names);
      measure(transport, names, measured);
      results.put(new Figure("two copies over " + transport, Unit.MEBIBYTES_PER_SECOND), measured);
    }
    Report report = new Report(names, results);
    report.print(out);
    report.write(json);
    return 0;
  }

  private Map<String, Measurement> measurements(List<String> names) {
    Map<String, Measurement> measurements = new LinkedHashMap<>();
    names.forEach(name -> measurements.put(name, new Measurement(rounds)));
    return measurements;
  }

  private void measure(String transport, List<String> names, Map<String, Measurement> measured)
      throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("fs.tako.transport", transport);
    settings.put("fs.tako.server.dead.interval", "2s");
    settings.put("fs.tako.rebalance.enabled", "false"); // its copies are not those of the repair
    if (bandwidth != null || !beside) {
      settings.put("fs.tako.repair.bandwidth", bandwidth == null ? "0" : bandwidth);
    }
    // Its own copies, half of the lost ones, and room for slabs that are not full.
    String poolSize = Math.max(512, mebibytes * 5L / 2) + "m";
    try (DevCluster cluster = new DevCluster(tako, RepairFiles.SERVERS, poolSize, settings);
        RepairFiles files = new RepairFiles(cluster.uri(), transport, mebibytes)) {
      RepairWatch watch = new RepairWatch(files, TimeUnit.SECONDS.toNanos(timeoutSeconds));
      for (int round = -1; round < rounds; round++) {
        files.write();
        Map<String, Measurement> figures = round < 0 ? measurements(names) : measured;
        int dead = round % 2 == 0 ? 2 : 3; // the one that was killed last has no copies any more
        ProcessHandle killed = cluster.server(dead);
        if (beside) {
          measureBeside(files, watch, killed, figures);
        } else {
          List<Long> others = List.of(cluster.server(1).pid(), cluster.server(5 - dead).pid());
          measureRepair(transport, watch, killed, others, figures);
        }
        files.verify();
        files.delete();
        cluster.startAgain();
      }
    }
  }

  private RepairWatch.Repair watch(RepairWatch watch, ProcessHandle killed, Runnable detected)
      throws IOException, InterruptedException {
    return watch.of(
        killed::destroyForcibly, (long) mebibytes * RepairFiles.MEBIBYTE / LEAST_SHARE, detected);
  }

  private void measureRepair(
      String transport,
      RepairWatch watch,
      ProcessHandle killed,
      List<Long> others,
      Map<String, Measurement> measured)
      throws Exception {
    try (BareTransport bare = new BareTransport(transport)) {
      bare.move(mebibytes); // the compiler's round
      long bareNs = bare.move(mebibytes);
      CpuTime client = CpuTime.ofSelf();
      CpuTime[] server = new CpuTime[1];
      RepairWatch.Repair repair = watch(watch, killed, () -> server[0] = cpu(others));
      double clientMicros = CpuTime.ofSelf().since(client) / 1e3 / repair.mebibytes();
      double serverMicros = cpu(others).since(server[0]) / 1e3 / repair.mebibytes();
      bareNs += bare.move(mebibytes);
      measured.get(BARE).add(2 * mebibytes * 1e9 / bareNs);
      measured
          .get(COPYING)
          .add(repair.mebibytes() * 1e9 / repair.copyingNs(), clientMicros, serverMicros);
      measured.get(DETECTED).add(repair.mebibytes() * 1e9 / repair.detectedNs());
      out.printf(
          "%s: %.0f MiB were copied in %.3f s, %.3f s after the loss was known%n",
          transport, repair.mebibytes(), repair.copyingNs() / 1e9, repair.detectedNs() / 1e9);
    }
  }

  private static CpuTime cpu(List<Long> processes) {
    try {
      return CpuTime.ofProcesses(processes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void measureBeside(
      RepairFiles files, RepairWatch watch, ProcessHandle killed, Map<String, Measurement> measured)
      throws Exception {
    try (BesideLoad load = new BesideLoad(files)) {
      Thread.sleep(WARM_UP_MS);
      BesideLoad.Moment[] begin = new BesideLoad.Moment[1];
      RepairWatch.Repair repair = watch(watch, killed, () -> begin[0] = load.now());
      BesideLoad.Moment end = load.now();
      Thread.sleep(TimeUnit.NANOSECONDS.toMillis(repair.detectedNs()));
      BesideLoad.Moment after = load.now();
      measured.get(BESIDE).add(end.since(begin[0]));
      measured.get(ALONE).add(after.since(end));
      out.printf(
          "%.0f MiB were copied in %.2f s, in which a client moved %.0f MiB/s, and %.0f MiB/s in as"
              + " long after it%n",
          repair.mebibytes(), repair.detectedNs() / 1e9, end.since(begin[0]), after.since(end));
    }
  }
}
