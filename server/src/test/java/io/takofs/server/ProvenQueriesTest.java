package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.GetFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.loggroup.Leader;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What pages show of the namespace, at a server that may lead no more without knowing it. */
@Timeout(60)
class ProvenQueriesTest {
  private static final Request ROOT =
      Request.newBuilder().setGetFile(GetFile.newBuilder().setPath("/")).build();

  @TempDir Path directory;

  private final ExecutorService threads = Executors.newSingleThreadExecutor();
  private final CompletableFuture<Void> asked = new CompletableFuture<>();
  private volatile long term = 1;
  private volatile boolean proven;
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server =
        TestServer.ledBy(
            directory.resolve("pool"),
            new ManualClock(),
            new Leader() {
              @Override
              public long term() {
                return term;
              }

              @Override
              public Proof prove(long ofTerm) {
                asked.complete(null);
                return () -> proven;
              }
            });
    server.server.tick();
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    server.close();
  }

  private Future<Reply> query() {
    return threads.submit(() -> server.server.query(TestServer.SUPERUSER, ROOT));
  }

  @Test
  void shouldBeAnsweredOnceItIsProvedThatThisServerLed() throws Exception {
    Future<Reply> reply = query();
    asked.get();
    server.server.poll();
    assertThat(reply.isDone()).isFalse();
    proven = true;
    server.server.poll();
    assertThat(reply.get().hasFile()).isTrue();
  }

  @Test
  void shouldSaySoWithinABoundedTimeWhenNoMajorityProvesIt() {
    long before = System.nanoTime();
    assertThatThrownBy(() -> server.server.query(TestServer.SUPERUSER, ROOT))
        .isInstanceOf(TakoException.class)
        .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE)
        .hasMessageContaining("no majority of the servers that keep the namespace answers");
    assertThat(System.nanoTime() - before).isLessThan(TimeUnit.SECONDS.toNanos(20));
    proven = true;
    server.server.poll(); // nobody waits for it any more
  }

  @Test
  void shouldNotBeAnsweredWhenThisServerLeadsNoMore() throws Exception {
    Future<Reply> reply = query();
    asked.get();
    term = 0;
    server.server.poll();
    assertThatThrownBy(reply::get).hasMessageContaining("no majority");
    assertThatThrownBy(() -> query().get()).hasMessageContaining("does not lead");
  }
}
