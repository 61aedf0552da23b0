package io.takofs.bench.log;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A process that runs {@link LogServer}.
 *
 * <p>Thread rule: one thread.
 */
final class LogProcess implements AutoCloseable {
  private static final List<String> JVM_OPTIONS =
      List.of("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m", "-XX:MaxDirectMemorySize=1g");

  /** Seconds that a process may take to end. */
  private static final int END_S = 10;

  private final Process process;
  private final BufferedReader answers;
  private final PrintWriter questions;

  /** Starts one; its endpoint is the first line that it answers. */
  LogProcess(int number, FrameWay way, String transport, Path directory, int objects, int slots)
      throws IOException {
    List<String> command = new java.util.ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(JVM_OPTIONS);
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            LogServer.class.getName(),
            "" + number,
            way.name(),
            transport,
            directory.toString(),
            "" + objects,
            "" + slots));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    questions = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  void tell(String line) {
    questions.println(line);
  }

  /** The next answer; waits for it. */
  String answer() throws IOException {
    for (String line = answers.readLine(); line != null; line = answers.readLine()) {
      if (line.startsWith(LogServer.ANSWER)) {
        return line.substring(LogServer.ANSWER.length());
      }
      System.err.println(line);
    }
    throw new IOException("a server of the log ended before it had answered");
  }

  /** Has it use the other server no more, which may be gone then. */
  void end() {
    tell(LogServer.END);
  }

  /** Waits until it does so, for some seconds at most. */
  void awaitEnd() {
    CompletableFuture<Void> end = CompletableFuture.runAsync(this::readToEnd);
    try {
      end.get(END_S, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      System.err.println("a server of the log does not end: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void readToEnd() {
    try {
      String line = answer();
      while (!line.equals(LogServer.END)) {
        line = answer();
      }
    } catch (IOException e) {
      System.err.println("a server of the log had ended: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().completeOnTimeout(process, END_S, TimeUnit.SECONDS).join();
    process.destroyForcibly();
  }
}
