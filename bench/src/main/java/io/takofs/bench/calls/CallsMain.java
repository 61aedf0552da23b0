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
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares ways of calling, or of moving file data, interleaved: every round runs each in turn. */
@Command(
    name = "calls",
    mixinStandardHelpOptions = true,
    description = {
      "rpc: calls found by an immediate (self-identified), by a receive, or by polling memory,",
      "of more and more clients. By the clock, if there is a processor for each side; else they",
      "hand one to each other, and the figure is by the processor time of the server's turns.",
      "active: file data moved one-sided by the server or by the client, or in messages; by the",
      "server's processor time: of its turns on one processor, or of the whole of another host."
    })
public final class CallsMain implements Callable<Integer> {
  @Parameters(index = "0", description = "rpc or active.")
  private Comparison comparison;

  @Parameters(index = "1", description = "shm or verbs.")
  private Transport transport;

  @Option(names = "--program", required = true, description = "The built call_bench.")
  private Path program;

  @Option(names = "--rounds", defaultValue = "5", description = "Each measures everything once.")
  private int rounds;

  @Option(names = "--seconds", defaultValue = "0.5", description = "Of each measurement.")
  private double seconds;

  @Option(names = "--lines", defaultValue = ".*", description = "Expression of lines to run.")
  private String selected;

  @Option(
      names = "--server",
      paramLabel = "HOST:PORT",
      description = "Of a call_bench --serve on another host.")
  private String server;

  @Option(names = "--json", description = "File to write the result to.")
  private Path json;

  @Spec private CommandSpec spec;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** The comparison to run. */
  enum Comparison {
    rpc,
    active
  }

  /** The transport to run it over. */
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
    boolean processorForEach = Runtime.getRuntime().availableProcessors() > 1;
    boolean apart = server != null || (comparison == Comparison.rpc && processorForEach);
    CallBench bench =
        new CallBench(program, transport.name(), Optional.ofNullable(server), apart, seconds);
    Pattern pattern = Pattern.compile(selected);
    List<? extends CallLine> lines =
        (comparison == Comparison.rpc ? RpcLine.all(transport) : TransferLine.all())
            .stream().filter(line -> pattern.matcher(line.name()).find()).toList();
    if (lines.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "no line is named like " + selected);
    }
    Map<Row, Map<String, Measurement>> results = measure(lines, bench, apart);
    Report report = new Report(lines.get(0).candidates(), results);
    report.print(out);
    report.write(json);
    if (comparison == Comparison.rpc) {
      new Report(RpcLine.wayNames(transport), RpcLine.byClients(results)).print(out);
    }
    return 0;
  }

  private Map<Row, Map<String, Measurement>> measure(
      List<? extends CallLine> lines, CallBench bench, boolean apart)
      throws IOException, InterruptedException {
    Map<Row, Map<String, Measurement>> results = new LinkedHashMap<>();
    for (int round = 0; round < rounds; round++) {
      out.printf("round %d of %d%n", round + 1, rounds);
      for (CallLine line : lines) {
        Map<String, Measurement> row = results.computeIfAbsent(line, key -> new LinkedHashMap<>());
        for (String candidate : line.candidates()) {
          CallBench.Result result = line.run(bench, candidate);
          row.computeIfAbsent(candidate, key -> new Measurement(rounds))
              .add(line.figure(result, apart), result.clientCpuMicros(), result.serverCpuMicros());
        }
      }
    }
    return results;
  }
}
