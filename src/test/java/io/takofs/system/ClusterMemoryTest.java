package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client's buffers for all servers of a cluster together stay within what it may have. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ClusterMemoryTest {
  private static final int MAX = 4 << 20;
  private static final int LENGTH = 300_000;

  /** Of 64 KiB and a page for each of three copies: three times as much as there may be. */
  private static final int WRITERS = 60;

  /** Each writer needs a page of its own for each server beyond the limit at most. */
  private static final int SLACK = 1 << 20;

  private final byte[] content = new byte[LENGTH];

  @Test
  void shouldWriteManyFilesWithThreeCopiesAtOnceWithLittleMemory() throws Exception {
    new Random(9).nextBytes(content);
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    try (ServerCluster cluster =
            ServerCluster.start(
                3, "fs.tako.server.pool.size", "512m", "fs.tako.replication.min", "3");
        TakoClient client =
            Clients.connect(
                cluster.uri(),
                "tcp",
                "fs.tako.client.memory.max",
                Integer.toString(MAX),
                "fs.tako.client.timeout", // of writers that all others go before
                "2m")) {
      List<Future<?>> jobs = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        String path = "/file-" + i;
        jobs.add(
            threads.submit(
                () -> {
                  write(client, path);
                  return null;
                }));
      }
      for (Future<?> job : jobs) {
        job.get(3, TimeUnit.MINUTES);
      }
      for (int i = 0; i < WRITERS; i++) {
        assertThat(Clients.read(client, "/file-" + i)).isEqualTo(content);
      }
      assertThat(client.bufferBytesPeak()).isBetween(1L, (long) MAX + SLACK);
    } finally {
      threads.shutdownNow();
    }
  }

  private void write(TakoClient client, String path) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      for (int from = 0; from < LENGTH; from += 30_000) {
        out.write(content, from, 30_000);
      }
    }
  }
}
