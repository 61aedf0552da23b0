package io.takofs.system;

import io.takofs.client.TakoClient;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A writer that freezes in the middle of a write, loses its lease, and wakes when others have
 * filled the pool: its late bytes must land nowhere that matters.
 */
class ZombieWriterTest {
  private static final int FREEZES = Integer.getInteger("tako.test.freezes", 1);

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldKeepCommittedBytesWhenAFrozenWriterWakes(String transport) throws Exception {
    try (ServerProcess server =
            ServerProcess.start(
                "fs.tako.server.session.ttl", "1s",
                "fs.tako.server.lease.soft", "1s",
                "fs.tako.server.lease.hard", "2s",
                "fs.tako.server.quarantine", "200ms",
                "fs.tako.server.pool.size", "128m");
        TakoClient client = Clients.connect(server, transport)) {
      for (int round = 0; round < FREEZES; round++) {
        String directory = "/zombie" + round;
        try (WriterProcess writer =
            WriterProcess.start(server.uri(), transport, directory, round)) {
          writer.awaitAcknowledgements(3 + 5 * round);
          FrozenWriter.freezeWhileWriting(writer, client, directory);
          FrozenWriter.checkThatNothingIsDamagedWhenItWakes(
              writer, client, directory, "/others" + round);
        }
        client.delete("/others" + round, true);
      }
      Clients.checkNothingLeaks(client);
    }
  }

  /**
   * The server that the writer was connected to dies while the writer is frozen; the next one knows
   * nothing of the mapping that the writer still has.
   */
  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldKeepCommittedBytesWhenAFrozenWriterWakesAfterARestartOfTheServer() throws Exception {
    try (ServerProcess server =
            ServerProcess.start(
                "fs.tako.server.session.ttl", "1s",
                "fs.tako.server.quarantine", "200ms",
                "fs.tako.server.pool.size", "128m");
        TakoClient client = Clients.connect(server, "shm")) {
      for (int round = 0; round < FREEZES; round++) {
        String directory = "/zombie" + round;
        try (WriterProcess writer = WriterProcess.start(server.uri(), "shm", directory, round)) {
          writer.awaitAcknowledgements(3 + 5 * round);
          FrozenWriter.freezeWhileWriting(writer, client, directory);
          server.kill();
          server.restart();
          FrozenWriter.checkThatNothingIsDamagedWhenItWakes(
              writer, client, directory, "/others" + round);
        }
        client.delete("/others" + round, true);
      }
      Clients.checkNothingLeaks(client);
    }
  }
}
