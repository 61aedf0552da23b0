package io.takofs.system;

import java.io.IOException;
import java.net.URI;
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
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of(server.toString(), transport, directory, Long.toString(seed)));
    arguments.addAll(List.of(keysAndValues));
    return new WriterProcess(JavaProcess.start(List.of("-Xmx256m"), WriterMain.class, arguments));
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
