package io.takofs.bench.calls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Runs {@code call_bench}: two processes, a server of one thread and one that plays all clients.
 *
 * <p>Thread rule: one thread.
 */
final class CallBench {
  private static final long TIMEOUT_SECONDS = 120;

  private final Path program;
  private final String transport;
  private final Optional<String> server;
  private final boolean apart;
  private final double seconds;

  /**
   * @param server HOST:PORT of another that serves, on another host; without it two processes of
   *     this one are run
   * @param apart both processes run where the kernel puts them, and wait as Tako does; else they
   *     share processor 0 and hand it to each other, so that their turns are counted, which are
   *     work alone
   * @param seconds to measure, after a quarter as long that does not count
   */
  CallBench(
      Path program, String transport, Optional<String> server, boolean apart, double seconds) {
    this.program = program;
    this.transport = transport;
    this.server = server;
    this.apart = apart;
    this.seconds = seconds;
  }

  /**
   * The result of a run: calls, elapsed nanoseconds, and processor nanoseconds of both processes.
   */
  record Result(long calls, long elapsedNs, long clientCpuNs, long serverCpuNs) {
    double clientCpuMicros() {
      return clientCpuNs / 1e3 / calls;
    }

    double serverCpuMicros() {
      return serverCpuNs / 1e3 / calls;
    }
  }

  /**
   * @param way immediate, send or polled
   * @param operation as the program's usage says
   * @param outstanding calls under way at most, one a client
   * @param size bytes of a transfer, or of a call's request and reply
   */
  Result run(String way, String operation, int clients, int outstanding, int size)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    if (!apart) {
      command.addAll(List.of("taskset", "-c", "0"));
    }
    command.add(program.toString());
    command.add(
        String.join(" ", transport, way, operation, clients + " " + outstanding, "" + size));
    command.add("" + seconds);
    server.ifPresent(command::add);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException(String.join(" ", command) + " did not end");
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.exitValue() != 0) {
      throw new IOException(String.join(" ", command) + " ended with " + process.exitValue());
    }
    long[] numbers =
        Pattern.compile(" ").splitAsStream(output.strip()).mapToLong(Long::parseLong).toArray();
    return new Result(numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}
