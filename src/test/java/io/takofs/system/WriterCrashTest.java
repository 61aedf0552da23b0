package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import java.time.Duration;
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
  private static final int KILLS = Integer.getInteger("tako.test.writer.kills", 5);

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
            new WriterProcess(server, transport, directory, random.nextLong())) {
          writer.awaitAcknowledgements(5 + random.nextInt(40));
          writer.kill();
          acknowledged = writer.acknowledged();
        }
        Poll.until(
            "all files of the dead writer are closed",
            Duration.ofSeconds(30),
            () ->
                Clients.list(client, directory).stream().noneMatch(PathStatus::underConstruction));
        for (PathStatus file : Clients.list(client, directory)) {
          byte[] content = Clients.read(client, file.path());
          Pattern.check(file.path(), content);
          assertThat((long) content.length)
              .as(file.path())
              .isEqualTo(file.length())
              .isGreaterThanOrEqualTo(acknowledged.getOrDefault(file.path(), 0L));
          acknowledged.remove(file.path());
        }
        assertThat(acknowledged).as("acknowledged and not there").isEmpty();
      }
      Clients.checkNothingLeaks(client);
    }
  }
}
