package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.GetClusterMap;
import io.takofs.proto.GetClusterStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server while its state is another member's to give. */
@Timeout(120)
class StatelessServerTest {
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

  @Test
  void shouldAnswerAsAServerThatLeadsNothingUntilItHasAStateAgain() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      assertThat(client.call(TestClient.mkdirs("/kept")).getStatus()).isEqualTo(Status.OK);
      server.server.giveUpState();
      server.server.giveUpState();
      Reply refusal = client.call(TestClient.mkdirs("/refused"));
      assertThat(refusal.getStatus()).isEqualTo(Status.NOT_LEADER);
      assertThat(refusal.getNotExecuted()).isTrue();
      assertThat(refusal.getLeader()).as("it does not send the client to itself").isZero();
      assertThat(refusal.getMessage()).contains("its leader is not known here");
      assertThat(ask(client, Request.newBuilder().setGetClusterMap(map()).build()).hasClusterMap())
          .isTrue();
      Request status =
          Request.newBuilder().setGetClusterStatus(GetClusterStatus.getDefaultInstance()).build();
      assertThat(ask(client, status).hasClusterStatus()).isTrue();
      assertThat(server.server.status().getWarning()).contains("takes over a checkpoint");
      assertThat(server.server.sickness().orElse("")).contains("no state");
      assertThatThrownBy(() -> server.server.query("root", TestClient.mkdirs("/a")))
          .isInstanceOf(TakoException.class)
          .hasMessageContaining("no state");
      assertThat(server.server.tick().failure()).isNull();

      server.server.takeState(server.storage());
      server.server.tick();
      assertThat(server.server.sickness()).isEmpty();
      assertThat(server.server.status().getWarning()).isEmpty();
      assertThat(client.stat("/kept").getStatus()).isEqualTo(Status.OK);
      assertThat(client.stat("/refused").getStatus()).isEqualTo(Status.NOT_FOUND);
      assertThat(client.call(TestClient.mkdirs("/again")).getStatus()).isEqualTo(Status.OK);
    }
  }

  private static GetClusterMap map() {
    return GetClusterMap.getDefaultInstance();
  }

  private static Reply ask(TestClient client, Request request) throws Exception {
    return client.call(request);
  }

  @Test
  void shouldSayForHowLongTheProcessRunsWhoeverLeads() throws Exception {
    long before = server.server.status().getUptimeMs();
    clock.advance(Duration.ofSeconds(90));
    server.server.giveUpState();
    assertThat(server.server.status().getUptimeMs()).isGreaterThanOrEqualTo(before + 90_000);
    server.server.takeState(server.storage());
    server.server.tick();
    assertThat(server.server.status().getUptimeMs()).isGreaterThanOrEqualTo(before + 90_000);
  }

  @Test
  void shouldStopWithoutAState() {
    server.server.giveUpState();
    server.close(); // no checkpoint of nothing
  }
}
