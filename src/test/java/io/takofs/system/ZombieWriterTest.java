package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
  private static final int FILE_BYTES = 700_000;

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
      for (int round = 0; round < 3; round++) {
        String directory = "/zombie" + round;
        try (WriterProcess writer = new WriterProcess(server, transport, directory, round)) {
          writer.awaitAcknowledgements(3 + 5 * round);
          freezeWhileWriting(writer, client, directory);
          checkThatNothingIsDamagedWhenItWakes(writer, client, directory, "/others" + round);
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
      for (int round = 0; round < 3; round++) {
        String directory = "/zombie" + round;
        try (WriterProcess writer = new WriterProcess(server, "shm", directory, round)) {
          writer.awaitAcknowledgements(3 + 5 * round);
          freezeWhileWriting(writer, client, directory);
          server.kill();
          server.restart();
          checkThatNothingIsDamagedWhenItWakes(writer, client, directory, "/others" + round);
        }
        client.delete("/others" + round, true);
      }
      Clients.checkNothingLeaks(client);
    }
  }

  private static void checkThatNothingIsDamagedWhenItWakes(
      WriterProcess writer, TakoClient client, String directory, String others) throws Exception {
    awaitRecovery(client, directory);
    client.delete(directory, true);
    List<String> files = fill(client, others);
    Signals.send(writer.pid(), "CONT");
    writer.awaitEnd();
    assertThat(writer.failure()).isIn("LEASE_LOST", "SESSION_EXPIRED", "NOT_FOUND");
    for (String file : files) {
      byte[] content = Clients.read(client, file);
      assertThat(content).hasSize(FILE_BYTES);
      Pattern.check(file, content);
    }
  }

  private static void awaitRecovery(TakoClient client, String directory) throws Exception {
    Poll.until(
        "the frozen writer's lease is recovered",
        Duration.ofSeconds(60),
        () -> Clients.list(client, directory).stream().noneMatch(PathStatus::underConstruction));
  }

  /** Writes files until there is no space. */
  private static List<String> fill(TakoClient client, String directory) throws IOException {
    List<String> files = new ArrayList<>();
    byte[] content = new byte[FILE_BYTES];
    client.mkdirs(directory);
    while (true) {
      String path = directory + "/f" + files.size();
      Pattern.fill(path, 0, content, content.length);
      try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
        out.write(content);
      } catch (TakoException e) {
        assertThat(e.status()).isEqualTo(Status.NO_SPACE);
        client.delete(path, false);
        return files;
      }
      files.add(path);
    }
  }

  /** Stops the writer at a moment when it has a file open. */
  private static void freezeWhileWriting(WriterProcess writer, TakoClient client, String directory)
      throws Exception {
    Signals.send(writer.pid(), "STOP");
    while (Clients.list(client, directory).stream().noneMatch(PathStatus::underConstruction)) {
      Signals.send(writer.pid(), "CONT");
      writer.awaitAcknowledgements(1);
      Signals.send(writer.pid(), "STOP");
    }
  }
}
