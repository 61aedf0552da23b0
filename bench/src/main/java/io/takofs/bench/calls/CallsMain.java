package io.takofs.bench.calls;

import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Report;
import io.takofs.bench.report.Row;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Compares ways of calling, or of moving file data, interleaved: every round runs each in turn. */
@Command(
    name = "calls",
    mixinStandardHelpOptions = true,
    description = {
      "rpc: calls found by an immediate (self-identified), by a receive, or by polling memory.",
      "active: file data moved by the client (one-sided, then a call) or by the server (in a call)."
    })
public final class CallsMain implements Callable<Integer> {
  @Parameters(index = "0", description = "rpc or active.")
  private Comparison comparison;

  @Parameters(index = "1", description = "shm or verbs.")
  private Transport transport;

  @Option(names = "--program", required = true, description = "The built call_bench.")
  private Path program;

  @Option(names = "--rounds", defaultValue = "5", description = "Rounds that count.")
  private int rounds;

  @Option(names = "--seconds", defaultValue = "0.5", description = "Of each measurement.")
  private double seconds;

  @Option(names = "--lines", defaultValue = ".*", description = "Expression of lines to run.")
  private String selected;

  @Option(
      names = "--apart",
      description =
          "Client and server on a processor each, waiting as Tako does, instead of one for both"
              + " which they hand to each other. Then the figure is by the clock.")
  private boolean apart;

  @Option(names = "--json", description = "File to write the result to.")
  private Path json;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** What is compared. */
  enum Comparison {
    rpc,
    active
  }

  /** What carries it. */
  enum Transport {
    shm,
    verbs
  }

  /** Entry point of {@code bin/bench --rpc} and {@code bin/bench --active}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new CallsMain()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    CallBench bench = new CallBench(program, transport.name(), !apart, seconds);
    List<? extends CallLine> lines =
        comparison == Comparison.rpc ? RpcLine.all() : TransferLine.all();
    List<String> ways = lines.get(0).ways(transport);
    Pattern pattern = Pattern.compile(selected);
    Map<Row, Map<String, Measurement>> results = new LinkedHashMap<>();
    for (CallLine line : lines) {
      if (pattern.matcher(line.name()).find()) {
        out.printf("measuring %s%n", line.name());
        results.put(line, measure(line, ways, bench));
      }
    }
    Report report = new Report(ways, results);
    report.print(out);
    report.write(json);
    return 0;
  }

  private Map<String, Measurement> measure(CallLine line, List<String> ways, CallBench bench)
      throws IOException, InterruptedException {
    Map<String, Measurement> measurements = new LinkedHashMap<>();
    ways.forEach(way -> measurements.put(way, new Measurement(rounds)));
    for (int round = 0; round < rounds; round++) {
      for (String way : ways) {
        CallBench.Result result = line.run(bench, way);
        measurements
            .get(way)
            .add(line.figure(result, apart), result.clientCpuMicros(), result.serverCpuMicros());
      }
    }
    return measurements;
  }
}
