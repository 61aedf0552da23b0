package io.takofs.system;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A writer in a process of its own. */
final class WriterProcess extends Writer {
  private final Process process;

  private WriterProcess(Process process) {
    super(process.inputReader());
    this.process = process;
  }

  /**
   * Starts one.
   *
   * @param keysAndValues of the client's configuration
   */
  static WriterProcess start(
      URI server, String transport, String directory, long seed, String... keysAndValues)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    // The machine's: where this process needs them, so does that one.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("-XX:"))
        .forEach(command::add);
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(WriterMain.class.getName());
    command.addAll(List.of(server.toString(), transport, directory, Long.toString(seed)));
    command.addAll(List.of(keysAndValues));
    return new WriterProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  long pid() {
    return process.pid();
  }

  /** kill -9; then everything it had said counts. */
  void kill() throws IOException {
    // Through its handle: Process itself would throw away what the writer has said.
    process.toHandle().destroyForcibly();
    process.onExit().join();
    awaitEnd();
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
