package io.takofs.system;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * {@link WriterMain} in a process of its own, and what it has acknowledged.
 *
 * <p>Thread rule: one thread.
 */
final class WriterProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;
  private final Map<String, Long> acknowledged = new HashMap<>();
  private String failure;

  WriterProcess(ServerProcess server, String transport, String directory, long seed)
      throws IOException {
    process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m",
                    "-cp",
                    System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")),
                    WriterMain.class.getName(),
                    server.uri().toString(),
                    transport,
                    directory,
                    Long.toString(seed)))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    output = process.inputReader();
  }

  long pid() {
    return process.pid();
  }

  /** Reads what it says until it has acknowledged {@code count} more times. */
  void awaitAcknowledgements(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      if (!readLine()) {
        throw new AssertionError("the writer ended early: " + failure);
      }
    }
  }

  /** kill -9; then everything it had said counts. */
  void kill() throws IOException {
    // Through its handle: Process itself would throw away what the writer has said.
    process.toHandle().destroyForcibly();
    process.onExit().join();
    awaitEnd();
  }

  /** Reads to its end. */
  void awaitEnd() throws IOException {
    boolean more = true;
    while (more) {
      more = readLine();
    }
  }

  /** Path to the least length that must be there. */
  Map<String, Long> acknowledged() {
    return acknowledged;
  }

  /** Status it failed with, or null. */
  String failure() {
    return failure;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  private boolean readLine() throws IOException {
    String line = output.readLine();
    if (line == null) {
      return false;
    }
    String[] words = line.split(" ", -1);
    if (words[0].equals("failed")) {
      failure = words[1];
    } else if (words.length == 3) {
      acknowledged.put(words[1], Long.valueOf(words[2]));
    }
    return true;
  }
}
