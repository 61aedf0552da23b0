package io.takofs.bench.log;

import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Report;
import io.takofs.bench.report.Row;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares the two ways of a log's frames, interleaved: every round runs each in turn. */
@Command(
    name = "log",
    mixinStandardHelpOptions = true,
    description = {
      "A key-value store on the replicated log, 30-byte keys and 100-byte values, drawn by a Zipf",
      "distribution. Frames go to the follower in calls, or are written one-sided; all else is the",
      "same code. Two servers of one thread each lead one group and follow in the other's.",
      "Recovery: a log that a follower left, opened and applied."
    })
public final class LogMain implements Callable<Integer> {
  @Parameters(index = "0", description = "shm or tcp.")
  private String transport;

  @Option(names = "--rounds", defaultValue = "5", description = "Each measures everything once.")
  private int rounds;

  @Option(names = "--seconds", defaultValue = "1", description = "Of each run.")
  private double seconds;

  @Option(
      names = "--warm-up",
      defaultValue = "10",
      description = "Seconds of each kind of run before, not counted, for the compiler.")
  private double warmUpSeconds;

  @Option(
      names = "--clients",
      defaultValue = "4",
      description = "Of each server, with a put under way at most.")
  private int clients;

  @Option(names = "--objects", defaultValue = "1000000", description = "Of each server's clients.")
  private int objects;

  @Option(names = "--slots", defaultValue = "16", description = "Segments of each log.")
  private int slots;

  @Option(
      names = "--applied",
      description = "Followers apply what is committed; else they keep the log alone.")
  private boolean applied;

  @Option(
      names = "--entries",
      defaultValue = "1000000",
      description = "Of a log that is recovered; 0: none is.")
  private int entries;

  @Option(names = "--lines", defaultValue = ".*", description = "Expression of lines to run.")
  private String selected;

  @Option(
      names = "--directory",
      defaultValue = "/dev/shm",
      description = "Where the memory of servers is: on a tmpfs.")
  private Path directory;

  @Option(names = "--json", description = "File to write the result to.")
  private Path json;

  @Spec private CommandSpec spec;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final Map<Row, Map<String, Measurement>> results = new LinkedHashMap<>();

  /** Entry point of {@code bin/bench --log}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new LogMain()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    if (!List.of("shm", "tcp").contains(transport)) {
      throw new ParameterException(spec.commandLine(), "no transport is named " + transport);
    }
    Pattern pattern = Pattern.compile(selected);
    List<LogRun> runs =
        LogRun.all().stream()
            .filter(run -> run.lines().stream().anyMatch(line -> matches(pattern, line)))
            .toList();
    boolean recovers =
        entries > 0 && RecoveryRun.rows(entries).stream().anyMatch(row -> matches(pattern, row));
    if (runs.isEmpty() && !recovers) {
      throw new ParameterException(spec.commandLine(), "no line is named like " + selected);
    }
    if (!runs.isEmpty()) {
      compare(runs);
    }
    if (recovers) {
      recover();
    }
    results.keySet().removeIf(row -> !matches(pattern, row));
    Report report =
        new Report(Arrays.stream(FrameWay.values()).map(way -> way.label).toList(), results);
    report.print(out);
    report.write(json);
    return 0;
  }

  private static boolean matches(Pattern pattern, Row row) {
    return pattern.matcher(row.name()).find();
  }

  private void compare(List<LogRun> runs) throws IOException {
    Map<FrameWay, LogPair> pairs = new EnumMap<>(FrameWay.class);
    try {
      for (FrameWay way : FrameWay.values()) {
        pairs.put(way, new LogPair(way, transport, directory, objects, slots));
      }
      for (LogRun run : runs) {
        for (LogPair pair : pairs.values()) {
          pair.warmUp(run, clients, applied, warmUpSeconds);
        }
      }
      List<Double> shares = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        out.printf("round %d of %d%n", round + 1, rounds);
        for (LogRun run : runs) {
          for (FrameWay way : FrameWay.values()) {
            List<RunFigures> found = run.run(pairs.get(way), clients, applied, seconds);
            shares.add(found.get(0).get("elapsed_ns") / 1e9 / seconds);
            run.lines().forEach(line -> add(line, way, line.figure().applyAsDouble(found)));
          }
        }
      }
      if (!BenchTransports.hasThreads(transport)) {
        out.printf(
            "Both servers had a processor in %.0f %% of the time (median), which alone counts.%n",
            100 * Measurement.median(shares.stream().mapToDouble(share -> share).toArray()));
      }
    } finally {
      pairs.values().forEach(LogPair::close);
    }
  }

  private void recover() throws IOException {
    try (RecoveryRun run = new RecoveryRun(transport, directory, entries)) {
      for (int round = -1; round < rounds; round++) {
        out.printf("recovery, round %d of %d%n", round + 1, rounds);
        for (FrameWay way : FrameWay.values()) {
          Map<Row, Double> figures = run.measure(way);
          if (round >= 0) {
            figures.forEach((row, figure) -> add(row, way, figure));
          }
        }
      }
    }
  }

  private void add(Row row, FrameWay way, double figure) {
    results
        .computeIfAbsent(row, key -> new LinkedHashMap<>())
        .computeIfAbsent(way.label, key -> new Measurement(rounds))
        .add(figure);
  }
}
