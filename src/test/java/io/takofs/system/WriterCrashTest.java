package io.takofs.system;

import io.takofs.client.TakoClient;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * kill -9 of writers: their leases are recovered, every flushed byte is there, what is there is
 * right, and no extent is lost.
 */
class WriterCrashTest {
  private static final int KILLS = Integer.getInteger("tako.test.writer.kills", 3);

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldRecoverLeasesAndKeepFlushedBytesWhenWritersAreKilled(String transport)
      throws Exception {
    long seed = Long.getLong("tako.test.seed", System.nanoTime());
    System.out.println("tako.test.seed=" + seed);
    Random random = new Random(seed);
    try (ServerProcess server =
            ServerProcess.start(
                "fs.tako.server.session.ttl", "1s",
                "fs.tako.server.quarantine", "200ms",
                "fs.tako.server.pool.size", "512m");
        TakoClient client = Clients.connect(server, transport)) {
      for (int kill = 0; kill < KILLS; kill++) {
        String directory = "/writer" + kill;
        Map<String, Long> acknowledged;
        try (WriterProcess writer =
            WriterProcess.start(server.uri(), transport, directory, random.nextLong())) {
          writer.awaitAcknowledgements(5 + random.nextInt(40));
          writer.kill();
          acknowledged = writer.acknowledged();
        }
        WrittenFiles.awaitClosed(client, directory);
        WrittenFiles.check(client, directory, acknowledged);
      }
      Clients.checkNothingLeaks(client);
    }
  }
}
