package io.takofs.bench.calls;

import io.takofs.bench.report.Figure;
import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Row;
import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Calls, found in one way, of ever more connected clients of whom eight are calling at any time.
 *
 * @param way how the server finds a call
 * @param size bytes of a request, and of its reply
 */
record RpcLine(Way way, int size) implements CallLine {
  private static final int[] CLIENTS = {20, 100, 1024};
  private static final int OUTSTANDING = 8;

  /** As the report calls them, and as call_bench does. */
  enum Way {
    SEND_RECEIVE("send/receive", "send"),
    SELF_IDENTIFIED("self-identified", "immediate"),
    POLLED_MEMORY("polled memory", "polled");

    final String label;
    final String argument;

    Way(String label, String argument) {
      this.label = label;
      this.argument = argument;
    }
  }

  /** Every way that a transport has, with small and larger messages. */
  static List<RpcLine> all(CallsMain.Transport transport) {
    return IntStream.of(16, 512, 4096)
        .boxed()
        .flatMap(size -> ways(transport).map(way -> new RpcLine(way, size)))
        .toList();
  }

  private static Stream<Way> ways(CallsMain.Transport transport) {
    boolean sends = transport == CallsMain.Transport.verbs;
    return Arrays.stream(Way.values()).filter(way -> sends || way != Way.SEND_RECEIVE);
  }

  /** The same measurements with the ways side by side. */
  static Map<Row, Map<String, Measurement>> byClients(
      Map<Row, Map<String, Measurement>> measurements) {
    Map<Row, Map<String, Measurement>> turned = new LinkedHashMap<>();
    measurements.forEach(
        (row, columns) -> {
          RpcLine line = (RpcLine) row;
          columns.forEach(
              (clients, measurement) ->
                  turned
                      .computeIfAbsent(
                          new Figure(clients + ", " + line.size() + " B", row.unit()),
                          key -> new LinkedHashMap<>())
                      .put(line.way().label, measurement));
        });
    return turned;
  }

  /** Columns of {@link #byClients}. */
  static List<String> wayNames(CallsMain.Transport transport) {
    return ways(transport).map(way -> way.label).toList();
  }

  @Override
  public String name() {
    return way.label + ", " + size + " B";
  }

  @Override
  public Unit unit() {
    return Unit.OPERATIONS_PER_SECOND;
  }

  @Override
  public List<String> candidates() {
    return IntStream.of(CLIENTS).mapToObj(clients -> clients + " clients").toList();
  }

  @Override
  public CallBench.Result run(CallBench bench, String candidate)
      throws IOException, InterruptedException {
    int clients = CLIENTS[candidates().indexOf(candidate)];
    return bench.run(way.argument, "call", clients, OUTSTANDING, size);
  }

  /** Measures elapsed time, or the server's processor time if both sides share a processor. */
  @Override
  public double figure(CallBench.Result result, boolean apart) {
    return unit().figure(result.calls(), apart ? result.elapsedNs() : result.serverCpuNs());
  }
}
