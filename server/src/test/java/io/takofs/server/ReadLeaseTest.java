package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.RenewLeases;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.loggroup.Leader;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which calls make do with a lease, and which ask for a round of heartbeats all the same. */
@Timeout(60)
class ReadLeaseTest {
  @TempDir Path directory;

  private final AtomicInteger rounds = new AtomicInteger();
  private volatile boolean lease;
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
                return 1;
              }

              @Override
              public boolean hasLease(long term) {
                return lease && term == 1;
              }

              @Override
              public Proof prove(long term) {
                rounds.incrementAndGet();
                return Proof.GIVEN;
              }
            });
    server.server.tick();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private int roundsOf(TestClient client, Request request) throws Exception {
    int before = rounds.get();
    assertThat(client.call(request).getStatus()).isEqualTo(Status.OK);
    return rounds.get() - before;
  }

  @Test
  void shouldAskForARoundWhereSomebodyWritesUponTheAnswer() throws Exception {
    Request renew = Request.newBuilder().setRenewLeases(RenewLeases.getDefaultInstance()).build();
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      assertThat(roundsOf(client, renew)).isEqualTo(1);
      lease = true;
      assertThat(roundsOf(client, renew)).isEqualTo(1);
    }
  }

  @Test
  void shouldAnswerQueriesByTheLeaseWhileThereIsOne() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      int before = rounds.get();
      client.stat("/");
      assertThat(rounds.get() - before).isEqualTo(1);
      lease = true;
      client.stat("/");
      assertThat(rounds.get() - before).isEqualTo(1);
      lease = false;
      client.stat("/");
      assertThat(rounds.get() - before).isEqualTo(2);
    }
  }
}
