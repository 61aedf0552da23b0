package io.takofs.server;

import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.CommitExtents;
import io.takofs.proto.Delete;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Request;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The machine's clock is wrong when the server starts again. */
@Timeout(120)
class ClockSetBackTest {
  @TempDir Path directory;

  private final ManualClock clock = new ManualClock();
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = new TestServer(directory.resolve("pool"), clock);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void restart(boolean cleanly) throws Exception {
    if (cleanly) {
      server.close();
    } else {
      server.kill();
    }
    clock.setWall(-TimeUnit.DAYS.toMillis(1));
    server = new TestServer(directory.resolve("pool"), clock);
  }

  private static Request commit(OpenedFile file) {
    return Request.newBuilder()
        .setCommitExtents(
            CommitExtents.newBuilder()
                .setFileId(file.getFile().getId())
                .setLeaseEpoch(file.getLeaseEpoch())
                .addExtents(file.getGrants(0).toBuilder().setLength(4096))
                .setLength(4096)
                .setClose(true)
                .setAllWritesCompleted(true))
        .build();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldFreeWhatWasDeletedBeforeARestart(boolean cleanly) throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      long free = client.status().getUsage().getFree();
      ok(client.call(commit(ok(client.call(TestClient.create("/f", 65536))).getOpenedFile())));
      ok(client.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f")).build()));
      assertThat(client.status().getUsage().getFree()).isLessThan(free);
      restart(cleanly);
      client.reconnect(server.endpoint());
      server.pass(10_000);
      assertThat(client.status().getUsage().getFree()).isEqualTo(free);
    }
  }

  @Test
  void shouldNotLetTimeRunBackwards() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      ok(client.call(TestClient.mkdirs("/before")));
      restart(true);
      client.reconnect(server.endpoint());
      ok(client.call(TestClient.mkdirs("/after")));
      assertThat(client.stat("/after").getFile().getModificationTimeMs())
          .isGreaterThanOrEqualTo(client.stat("/before").getFile().getModificationTimeMs());
    }
  }
}
