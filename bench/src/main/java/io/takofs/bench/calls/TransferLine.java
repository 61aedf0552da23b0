package io.takofs.bench.calls;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * File data moved between a client and the server's data zone, with checksums.
 *
 * @param operation write or read
 * @param size bytes
 */
record TransferLine(String operation, int size) implements CallLine {
  private static final int CLIENTS = 64;
  private static final String SERVER_ACTIVE = "server-active";
  private static final String CLIENT_ACTIVE = "client-active";

  /** Writes and reads of 512 B to 64 KiB. */
  static List<TransferLine> all() {
    return Stream.of("write", "read")
        .flatMap(
            operation ->
                IntStream.of(512, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10)
                    .mapToObj(size -> new TransferLine(operation, size)))
        .toList();
  }

  @Override
  public String name() {
    return operation + " of " + size + " B";
  }

  @Override
  public Unit unit() {
    return Unit.MICROSECONDS;
  }

  @Override
  public List<String> ways(CallsMain.Transport transport) {
    return List.of(SERVER_ACTIVE, CLIENT_ACTIVE);
  }

  @Override
  public CallBench.Result run(CallBench bench, String way)
      throws IOException, InterruptedException {
    String kind = way.equals(CLIENT_ACTIVE) ? "-active" : "-copied";
    return bench.run("immediate", operation + kind, CLIENTS, CLIENTS, size);
  }

  @Override
  public double figure(CallBench.Result result, boolean apart) {
    return apart ? result.elapsedNs() / 1e3 / result.calls() : result.serverCpuMicros();
  }
}
