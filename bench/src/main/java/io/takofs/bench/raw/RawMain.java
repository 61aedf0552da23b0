package io.takofs.bench.raw;

import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Report;
import io.takofs.bench.report.Row;
import io.takofs.transport.verbs.VerbsTransport;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The verbs transport beside perftest, interleaved: two processes on one device, with the same
 * sizes, depth, signalling and bytes inline, and the same way of waiting.
 */
@Command(
    name = "raw",
    mixinStandardHelpOptions = true,
    description = "Tako's verbs transport and perftest side by side on this host's RDMA device.")
public final class RawMain implements Callable<Integer> {
  private static final String PERFTEST = "perftest";
  private static final String TAKO = "tako";

  @Option(names = "--rounds", defaultValue = "11", description = "Rounds that count.")
  private int rounds;

  @Option(
      names = "--warm-up",
      defaultValue = "8",
      description = "Seconds of each line before, not counted, for the compiler.")
  private double warmUpSeconds;

  @Option(names = "--lines", defaultValue = ".*", description = "Expression of lines to run.")
  private String selected;

  @Option(names = "--json", description = "File to write the result to.")
  private Path json;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Entry point of {@code bin/bench --raw}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new RawMain()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    VerbsTransport transport = VerbsTransport.create(Optional.empty());
    Perftest perftest = new Perftest(transport.address());
    Map<Row, Map<String, Measurement>> results = new LinkedHashMap<>();
    try (Side side = new Side(transport, RawLine.BULK, RawLine.DEPTH)) {
      side.startPeer(RawResponder.class);
      Pattern pattern = Pattern.compile(selected);
      for (RawLine line :
          Stream.of(RawLine.values())
              .filter(line -> pattern.matcher(line.row().name()).find())
              .toList()) {
        out.printf("measuring %s%n", line.row().name());
        results.put(line.row(), measure(line, perftest, side));
      }
    }
    Report report = new Report(List.of(PERFTEST, TAKO), results);
    report.print(out);
    report.write(json);
    return 0;
  }

  private Map<String, Measurement> measure(RawLine line, Perftest perftest, Side side)
      throws IOException, InterruptedException {
    Measurement theirs = new Measurement(rounds);
    Measurement ours = new Measurement(rounds);
    long start = System.nanoTime();
    while (System.nanoTime() - start < warmUpSeconds * 1e9) {
      line.measure(side);
    }
    for (int round = 0; round < rounds; round++) {
      theirs.add(perftest.run(line.perftest(), line.iterations()));
      ours.add(line.measure(side));
    }
    return Map.of(PERFTEST, theirs, TAKO, ours);
  }
}
