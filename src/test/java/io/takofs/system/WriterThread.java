package io.takofs.system;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;

/** A writer in this process, for where nothing is to happen to its own. */
final class WriterThread extends Writer {
  private static final int PIPE_BYTES = 1 << 20;

  private final Thread thread;
  private final AtomicBoolean stop;

  private WriterThread(BufferedReader output, Thread thread, AtomicBoolean stop) {
    super(output);
    this.thread = thread;
    this.stop = stop;
  }

  /** Starts one; see {@link WriterProcess#start}. */
  static WriterThread start(
      URI server, String transport, String directory, long seed, String... keysAndValues)
      throws IOException {
    PipedInputStream said = new PipedInputStream(PIPE_BYTES);
    PrintStream out = new PrintStream(new PipedOutputStream(said), true, StandardCharsets.UTF_8);
    AtomicBoolean stop = new AtomicBoolean();
    Thread thread =
        new Thread(
            () -> {
              try (out) {
                WriterMain.write(server, transport, directory, seed, keysAndValues, stop::get, out);
              }
            },
            "writer");
    thread.setDaemon(true);
    thread.start();
    return new WriterThread(
        new BufferedReader(new InputStreamReader(said, StandardCharsets.UTF_8)), thread, stop);
  }

  /** Lets it close its last file, and waits until it has ended. */
  void finish() throws Exception {
    stop.set(true);
    awaitEnd();
    thread.join();
  }

  /** Does not wait: it may be what a test found hanging. */
  @Override
  public void close() {
    stop.set(true);
    thread.interrupt();
  }
}
