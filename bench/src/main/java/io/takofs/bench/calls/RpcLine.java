package io.takofs.bench.calls;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Small calls of connected clients.
 *
 * @param clients connected
 * @param outstanding calls under way at any time, one a client
 */
record RpcLine(int clients, int outstanding) implements CallLine {
  private static final Map<String, String> WAYS =
      Map.of("send/receive", "send", "self-identified", "immediate", "polled memory", "polled");

  /** As large as those of Tako's requests, bytes. */
  private static final int SLOT = 16 << 10;

  /** From one client to 1024: all of them call all the time, or few do. */
  static List<RpcLine> all() {
    return Stream.concat(
            IntStream.of(1, 20, 50, 100, 256, 512, 1024).mapToObj(n -> new RpcLine(n, n)),
            Stream.of(new RpcLine(20, 16), new RpcLine(1024, 16), new RpcLine(1024, 1)))
        .toList();
  }

  @Override
  public String name() {
    return clients + " clients" + (outstanding < clients ? ", " + outstanding + " calling" : "");
  }

  @Override
  public Unit unit() {
    return Unit.OPERATIONS_PER_SECOND;
  }

  @Override
  public List<String> ways(CallsMain.Transport transport) {
    return transport == CallsMain.Transport.verbs
        ? List.of("send/receive", "self-identified", "polled memory")
        : List.of("self-identified", "polled memory");
  }

  @Override
  public CallBench.Result run(CallBench bench, String way)
      throws IOException, InterruptedException {
    return bench.run(WAYS.get(way), "call", clients, outstanding, SLOT);
  }

  @Override
  public double figure(CallBench.Result result, boolean apart) {
    return unit().figure(result.calls(), apart ? result.elapsedNs() : result.serverCpuNs());
  }
}
