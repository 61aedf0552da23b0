package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Status;
import io.takofs.server.loggroup.Leader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that come to a server while nobody is known to lead. */
@Timeout(60)
class WaitingSessionsTest {
  @TempDir Path directory;

  private final ManualClock clock = new ManualClock();
  private volatile long term;
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server =
        TestServer.ledBy(
            directory.resolve("pool"),
            clock,
            new Leader() {
              @Override
              public long term() {
                return term;
              }
            });
    server.server.tick();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private CompletableFuture<TestClient> connect() {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return new TestClient(server, TestServer.SUPERUSER);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private static boolean isDoneIn(CompletableFuture<?> future, long milliseconds) throws Exception {
    try {
      future.handle((result, failure) -> true).get(milliseconds, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }

  @Test
  void shouldLetThemInOnceThisServerLeads() throws Exception {
    CompletableFuture<TestClient> client = connect();
    assertThat(isDoneIn(client, 300)).isFalse();
    term = 1;
    server.server.tick();
    assertThat(isDoneIn(client, 20_000)).isTrue();
    try (TestClient connected = client.get()) {
      assertThat(connected.stat("/").getStatus()).isEqualTo(Status.OK);
    }
  }

  @Test
  void shouldTellThemAfterAWhileThatNobodyIsKnownToLead() throws Exception {
    CompletableFuture<TestClient> client = connect();
    assertThat(isDoneIn(client, 300)).isFalse();
    server.server.tick();
    assertThat(isDoneIn(client, 300)).isFalse();
    clock.advance(Duration.ofMillis(600));
    server.server.tick();
    assertThat(isDoneIn(client, 20_000)).isTrue();
    assertThat(client).isCompletedExceptionally();
  }
}
