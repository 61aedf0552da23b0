package io.takofs.bench.calls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
  private final boolean oneProcessor;
  private final double seconds;

  /**
   * @param oneProcessor both processes share processor 0 and hand it to each other, so that their
   *     turns are counted, which are work alone; else they run where the kernel puts them, and wait
   * @param seconds to measure, after a quarter as long that does not count
   */
  CallBench(Path program, String transport, boolean oneProcessor, double seconds) {
    this.program = program;
    this.transport = transport;
    this.oneProcessor = oneProcessor;
    this.seconds = seconds;
  }

  /** What a run did, and nanoseconds of the clock and of the processes. */
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
   * @param size bytes of a transfer, or of a call's slots
   */
  Result run(String way, String operation, int clients, int outstanding, int size)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    if (oneProcessor) {
      command.addAll(List.of("taskset", "-c", "0"));
    }
    command.addAll(List.of(program.toString(), transport, way, operation));
    command.addAll(List.of("" + clients, "" + outstanding, "" + size, "" + seconds));
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
