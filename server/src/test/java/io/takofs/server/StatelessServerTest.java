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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server while its state is another member's to give. */
@Timeout(120)
class StatelessServerTest {
  @TempDir Path directory;

  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = new TestServer(directory.resolve("pool"), new ManualClock());
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
      assertThat(client.call(TestClient.mkdirs("/refused")).getStatus())
          .isEqualTo(Status.NOT_LEADER);
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
  void shouldStopWithoutAState() {
    server.server.giveUpState();
    server.close(); // no checkpoint of nothing
  }
}
