package io.takofs.bench.compare;

import io.takofs.bench.report.CpuTime;
import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Report;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Compares file systems, interleaved: every round runs a line on each candidate in turn. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = "Tako over shm and tcp, HDFS and the raw local file system side by side.")
public final class CompareMain implements Callable<Integer> {
  @Option(names = "--tako", required = true, description = "URI of a running Tako.")
  private URI tako;

  @Option(names = "--tako-pid", required = true, description = "Process id of its data server.")
  private long takoPid;

  @Option(
      names = "--candidates",
      split = ",",
      defaultValue = "hdfs,tako-shm,tako-tcp,local",
      description = "Which to compare, the baseline first.")
  private List<String> names;

  @Option(names = "--rounds", defaultValue = "11", description = "Rounds that count.")
  private int rounds;

  @Option(
      names = "--warm-up",
      defaultValue = "8",
      description =
          "Seconds of each line on each candidate before, not counted: compilers of clients and"
              + " servers need some thousand calls before they are done.")
  private double warmUpSeconds;

  @Option(names = "--lines", defaultValue = ".*", description = "Expression of lines to run.")
  private String selected;

  @Option(
      names = "--server-cpu",
      description = "Processor to run HDFS's servers on; the caller places Tako's and the client.")
  private Integer serverCpu;

  @Option(names = "--tmpfs", defaultValue = "/dev/shm", description = "Where HDFS and local store.")
  private java.nio.file.Path tmpfs;

  @Option(names = "--json", description = "File to write the result to.")
  private java.nio.file.Path json;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Entry point of {@code bin/bench}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new CompareMain()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    java.nio.file.Path work = Files.createTempDirectory(tmpfs, "tako-compare-");
    List<Line> lines =
        Stream.of(LatencyLines.all(), BandwidthLines.all(), ThroughputLines.all())
            .flatMap(List::stream)
            .filter(line -> line.name().matches(selected))
            .toList();
    Map<Line, Map<String, Measurement>> results = new LinkedHashMap<>();
    HdfsCluster hdfs = null;
    try {
      if (names.contains("hdfs")) {
        out.println("starting HDFS");
        hdfs = new HdfsCluster(work.resolve("hdfs"), placement());
      }
      List<Candidate> candidates = new ArrayList<>();
      for (String name : names) {
        candidates.add(candidate(name, work, hdfs));
      }
      for (Line line : lines) {
        out.printf("measuring %s%n", line.name());
        results.put(line, measure(line, candidates));
      }
      for (Candidate candidate : candidates) {
        candidate.fs().close();
      }
    } finally {
      if (hdfs != null) {
        hdfs.close();
      }
      try (FileSystem local = new RawLocalFileSystem()) {
        local.initialize(URI.create("file:///"), new Configuration());
        local.delete(new Path(work.toUri()), true);
      }
    }
    Report report = new Report(names, results);
    report.print(out);
    report.write(json);
    return 0;
  }

  private List<String> placement() {
    return serverCpu == null ? List.of() : List.of("taskset", "-c", serverCpu.toString());
  }

  private Candidate candidate(String name, java.nio.file.Path work, HdfsCluster hdfs)
      throws IOException {
    Path base = new Path("/compare-" + ProcessHandle.current().pid());
    return switch (name) {
      case "hdfs" -> new Candidate(name, hdfs.client(), base, hdfs.pids());
      case "tako-shm", "tako-tcp" -> {
        Configuration conf = new Configuration();
        conf.set("fs.tako.transport", name.substring("tako-".length()));
        yield new Candidate(name, FileSystem.newInstance(tako, conf), base, List.of(takoPid));
      }
      case "local" -> {
        FileSystem local = new RawLocalFileSystem();
        local.initialize(URI.create("file:///"), new Configuration());
        yield new Candidate(name, local, new Path(work.resolve("local").toUri()), List.of());
      }
      default ->
          throw new IllegalArgumentException(
              "no candidate '" + name + "': choose of hdfs, tako-shm, tako-tcp, local");
    };
  }

  private Map<String, Measurement> measure(Line line, List<Candidate> candidates) throws Exception {
    Map<String, Measurement> measurements = new LinkedHashMap<>();
    for (Candidate candidate : candidates) {
      measurements.put(candidate.name(), new Measurement(rounds));
    }
    for (Candidate candidate : candidates) {
      warmUp(line, candidate);
    }
    for (int round = 0; round < rounds; round++) {
      for (Candidate candidate : candidates) {
        line.prepare(candidate, round);
        long clientBefore = CpuTime.ofSelf();
        long serverBefore = CpuTime.ofProcesses(candidate.serverPids());
        long start = System.nanoTime();
        line.run(candidate, round);
        long elapsed = System.nanoTime() - start;
        double client = (CpuTime.ofSelf() - clientBefore) / 1e3 / line.batch();
        double server =
            (CpuTime.ofProcesses(candidate.serverPids()) - serverBefore) / 1e3 / line.batch();
        measurements
            .get(candidate.name())
            .add(line.unit().figure(line.batch(), elapsed), client, server);
        line.finish(candidate, round);
      }
    }
    return measurements;
  }

  private void warmUp(Line line, Candidate candidate) throws Exception {
    long start = System.nanoTime();
    for (int round = 0; System.nanoTime() - start < warmUpSeconds * 1e9; round++) {
      line.prepare(candidate, round);
      line.run(candidate, round);
      line.finish(candidate, round);
    }
  }
}
