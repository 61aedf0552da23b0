package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A client that creates a small file, reads it, and begins again as fast as it can, or with a rest
 * of {@code -Dtako.test.leader.pause.us} between two files.
 *
 * <p>Thread rule: one thread beside its own.
 */
final class FileWorker implements AutoCloseable {
  /** Between two files: without, some clients want more than two processors have. */
  private static final long PAUSE_NS = Long.getLong("tako.test.leader.pause.us", 0) * 1000;

  /** Files that are there at a time: a namespace has room for so many. */
  private static final int KEPT = 2000;

  private static final int COUNT = 4;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final TakoClient client;
  private final String directory;
  private final Thread thread = new Thread(this::run);
  private volatile boolean stopped;
  private volatile Throwable failure;
  private volatile int files;
  private volatile long answeredNs = System.nanoTime();
  private volatile long longestGapNs;
  private volatile long goneOnMs;

  FileWorker(TakoClient client, int number) throws IOException {
    this.client = client;
    this.directory = "/worker-" + number;
    client.mkdirs(directory);
    thread.setDaemon(true);
    thread.start();
  }

  /** Adds some to {@code workers}, half of them over shared memory and half over TCP. */
  static void start(List<FileWorker> workers, ServerCluster cluster) throws IOException {
    for (int i = 0; i < COUNT; i++) {
      workers.add(new FileWorker(ClusterClients.connect(cluster, i % 2 == 0 ? "shm" : "tcp"), i));
    }
  }

  private void run() {
    try {
      for (int file = 0; !stopped; file++) {
        String path = path(file);
        try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
          out.write(content(path));
        }
        answered();
        assertThat(Clients.read(client, path)).isEqualTo(content(path));
        answered();
        if (file >= KEPT) {
          client.delete(path(file - KEPT), false);
        }
        files = file + 1;
        if (PAUSE_NS > 0) {
          LockSupport.parkNanos(PAUSE_NS);
        }
      }
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
  }

  private void answered() {
    long now = System.nanoTime();
    if (now - answeredNs > longestGapNs) {
      longestGapNs = now - answeredNs;
      goneOnMs = System.currentTimeMillis();
    }
    answeredNs = now;
  }

  /** The longest time without an answer since this was asked last. */
  long takeGapNs() {
    long gap = longestGapNs;
    longestGapNs = 0;
    return gap;
  }

  int files() {
    return files;
  }

  /** The end of the longest gap, by the clock. */
  long goneOnMs() {
    return goneOnMs;
  }

  /** Throws when it has failed. */
  void checkAlive() {
    if (failure != null) {
      throw new AssertionError("a client failed", failure);
    }
  }

  /** All files that were acknowledged are there, with their bytes, and no others. */
  void check(TakoClient reader) throws IOException {
    assertThat(failure).isNull();
    int first = Math.max(0, files - KEPT);
    for (int i = first; i < files; i++) {
      assertThat(Clients.read(reader, path(i))).as(path(i)).isEqualTo(content(path(i)));
    }
    assertThat(Clients.list(reader, directory)).hasSize(files - first);
  }

  void stop() throws InterruptedException {
    stopped = true;
    thread.join(LIMIT.toMillis());
    assertThat(thread.isAlive()).isFalse();
  }

  @Override
  public void close() {
    stopped = true;
    client.close();
  }

  private String path(int file) {
    return directory + "/f" + file;
  }

  private static byte[] content(String path) {
    return ("content of " + path).getBytes(StandardCharsets.UTF_8);
  }
}
