package io.takofs.bench.compare;

import io.takofs.bench.report.Baseline;
import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Report;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Compares file systems by operations of their clients, or by Hadoop's own jobs. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = "Tako over shm and tcp, HDFS and the raw local file system side by side.")
public final class CompareMain implements Callable<Integer> {
  @Option(names = "--tako", required = true, description = "Directory of a running `tako dev`.")
  private Path tako;

  @Option(
      names = "--other",
      paramLabel = "DIR=STATE",
      description =
          "Another checkout, as candidates name it, or :1 for one member, and the same of its"
              + " `tako dev`.")
  private Map<String, Path> others = Map.of();

  @Option(
      names = "--candidates",
      split = ",",
      description =
          "Which to compare: with the first, and with local, memory (a plain copy), memory3 (three"
              + " plain copies, of writes) and raw-tcp (a bare TCP stream, of sequential reads) if"
              + " they are among them (default: hdfs,tako-shm,tako-tcp,local,memory,raw-tcp, with"
              + " several servers memory3, too). hdfs-ha is HDFS in high availability, with two"
              + " NameNodes and three JournalNodes. tako-shm@DIR and tako-tcp@DIR are server and client"
              + " of another built checkout, with which its namesakes here are compared, too; tako-shm:1"
              + " and tako-tcp:1 have the namespace on one member, in a cluster.")
  private List<String> names;

  @Option(
      names = "--servers",
      defaultValue = "1",
      description =
          "Data servers of each cluster, which the caller has started of Tako: HDFS gets so many"
              + " DataNodes, and files have as many copies, up to 3 (default: ${DEFAULT-VALUE}).")
  private int servers;

  @Option(names = "--jobs", description = "TestDFSIO, TeraGen, TeraSort and WordCount instead.")
  private boolean jobs;

  @Option(names = "--small", description = "Jobs of 20 MB.")
  private boolean small;

  @Option(names = "--rounds", description = "Rounds that count (default: 11; 3 of jobs).")
  private Integer rounds;

  @Option(
      names = "--warm-up",
      description =
          "Seconds of each line on each candidate before, not counted: compilers of clients and"
              + " servers need some thousand calls before they are done (default: 8).")
  private Double warmUpSeconds;

  @Option(names = "--lines", defaultValue = ".*", description = "Expression of lines to run.")
  private String selected;

  @Option(
      names = "--server-cpu",
      description = "Processor to run HDFS's servers on; the caller places Tako's and the client.")
  private Integer serverCpu;

  @Option(names = "--tmpfs", defaultValue = "/dev/shm", description = "Where HDFS and local store.")
  private Path tmpfs;

  @Option(names = "--json", description = "File to write the result to.")
  private Path json;

  @Spec private CommandSpec spec;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Entry point of {@code bin/bench}. */
  public static void main(String[] arguments) {
    // bin/bench names a directory before the options of its caller.
    System.exit(
        new CommandLine(new CompareMain()).setOverwrittenOptionsAllowed(true).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    if (servers < 1) {
      throw new ParameterException(spec.commandLine(), "--servers " + servers + ": at least 1");
    }
    if (names == null) {
      names = defaultNames();
    }
    Map<Line, Map<String, Measurement>> results = new LinkedHashMap<>();
    Comparison comparison =
        new Comparison(
            rounds != null ? rounds : jobs ? 3 : 11, warmUpSeconds != null ? warmUpSeconds : 8);
    if (jobs) {
      // TeraSort tells each of its steps there.
      System.setOut(
          new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
    }
    out.printf("starting %s%n", String.join(", ", names));
    try (Candidates candidates = new Candidates(names, checkouts(), tmpfs, placement(), servers)) {
      for (Line line : lines(candidates)) {
        out.printf("measuring %s%n", line.name());
        results.put(line, comparison.measure(line, candidates.list()));
        // After each, so that an interruption loses only the line that it interrupts.
        new Report(names, baselines(), results).write(json);
      }
    }
    new Report(names, baselines(), results).print(out);
    return 0;
  }

  private List<Line> lines(Candidates candidates) {
    List<Line> lines =
        (jobs
                ? JobLines.all(small, candidates.scratch()).stream()
                : Stream.of(LatencyLines.all(), BandwidthLines.all(), ThroughputLines.all())
                    .flatMap(List::stream))
            .filter(line -> line.name().matches(selected))
            .toList();
    if (lines.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "no line is named like " + selected);
    }
    return lines;
  }

  private Map<String, Checkout> checkouts() throws IOException {
    Map<String, Checkout> checkouts = new HashMap<>();
    checkouts.put("", Checkout.current(tako));
    for (Map.Entry<String, Path> other : others.entrySet()) {
      checkouts.put(
          other.getKey(),
          other.getKey().equals(BenchCandidate.ONE_MEMBER)
              ? Checkout.current(other.getValue())
              : Checkout.of(Path.of(other.getKey()), other.getValue()));
    }
    return checkouts;
  }

  private List<String> defaultNames() {
    Stream<String> systems =
        Stream.of(BenchCandidate.HDFS, BenchCandidate.TAKO_SHM, BenchCandidate.TAKO_TCP);
    return Stream.concat(systems, limits())
        .filter(name -> servers > 1 || !name.equals(BenchCandidate.MEMORY_THREE_TIMES))
        .toList();
  }

  /** The candidates that limit the others; those without files run no jobs. */
  private Stream<String> limits() {
    return jobs
        ? Stream.of(BenchCandidate.LOCAL)
        : Stream.of(
            BenchCandidate.LOCAL,
            BenchCandidate.MEMORY,
            BenchCandidate.MEMORY_THREE_TIMES,
            BenchCandidate.RAW_TCP);
  }

  private List<Baseline> baselines() {
    Stream<Baseline> candidates =
        Stream.concat(Stream.of(names.get(0)), limits())
            .filter(names::contains)
            .distinct()
            .map(Baseline::candidate);
    Stream<Baseline> checkouts =
        names.stream()
            .map(BenchCandidate::serversOf)
            .filter(servers -> !servers.isEmpty())
            .distinct()
            .map(CompareMain::baseline);
    return Stream.concat(candidates, checkouts).toList();
  }

  /** The namesakes on other servers: those of a checkout, or those with one member. */
  private static Baseline baseline(String servers) {
    return servers.equals(BenchCandidate.ONE_MEMBER)
        ? new Baseline(servers, name -> BenchCandidate.kindOf(name) + servers)
        : new Baseline(
            "@" + Path.of(servers).getFileName(),
            name -> BenchCandidate.kindOf(name) + "@" + servers);
  }

  private List<String> placement() {
    return serverCpu == null ? List.of() : List.of("taskset", "-c", serverCpu.toString());
  }
}
