package io.takofs.bench.calls;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.List;
import java.util.Map;
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

  /** Few enough that soft-RoCE loses no packet between two machines. */
  private static final int OUTSTANDING = 8;

  private static final Map<String, String> MOVERS =
      Map.of("server-active", "server", "in messages", "message", "client-active", "client");

  /** Writes and reads of 512 B to 64 KiB. */
  static List<TransferLine> all() {
    return Stream.of("write", "read")
        .flatMap(
            operation ->
                IntStream.of(512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10)
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
  public List<String> candidates() {
    return List.of("server-active", "in messages", "client-active");
  }

  @Override
  public CallBench.Result run(CallBench bench, String candidate)
      throws IOException, InterruptedException {
    String mover = MOVERS.get(candidate);
    return bench.run("immediate", operation + "-" + mover, CLIENTS, OUTSTANDING, size);
  }

  /** The server's processor time. */
  @Override
  public double figure(CallBench.Result result, boolean apart) {
    return result.serverCpuMicros();
  }
}
