package io.takofs.server;

import static io.takofs.server.TestClient.mkdirs;
import static io.takofs.server.TestClient.ok;
import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Delete;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import io.takofs.rpc.ReplyHandler;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class DataServerTest {
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

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void shouldServeFilesAndSayHowItIs() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      ok(client.call(mkdirs("/a/b")));
      client.writeInline("/a/b/f", bytes("hello"));
      assertThat(client.readInline("/a/b/f")).isEqualTo(bytes("hello"));
      assertThat(client.stat("/a/c").getStatus()).isEqualTo(Status.NOT_FOUND);

      assertThat(client.session.getEpoch()).isEqualTo(server.epoch());
      assertThat(client.arenas().getStatus()).isEqualTo(Status.DISCONNECTED);
      client.connectData();
      assertThat(client.arenas().getArenas().getArenasCount()).isEqualTo(1);
      var status = client.status();
      assertThat(status.getFiles()).isEqualTo(1);
      assertThat(status.getCountersMap()).containsEntry("calls.create", 1L);
      assertThat(status.getCountersMap()).containsEntry("refused.not_found", 1L);
      assertThat(status.getConnectionsList()).hasSize(1);
      assertThat(status.getConnections(0).getTransport()).isEqualTo("tcp");
      assertThat(status.getConnections(0).getUser()).isEqualTo(TestServer.SUPERUSER);
    }
  }

  @Test
  void shouldMeasureWhatItDoes() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      ok(client.call(mkdirs("/a")));
      client.stat("/nothing");
      client.writeInline("/a/f", bytes("hello"));
      ok(client.call(TestClient.create("/a/open", 1)));
      ServerStatus status = client.status();
      assertThat(status.getOperationsList())
          .anySatisfy(
              each -> {
                assertThat(each.getOperation()).isEqualTo("get_file");
                assertThat(each.getCalls()).isEqualTo(1);
                assertThat(each.getRefused()).isEqualTo(1);
                assertThat(each.getLatenciesList().stream().mapToLong(Long::longValue).sum())
                    .isEqualTo(1);
              });
      assertThat(status.getExtentsList())
          .anySatisfy(
              each -> {
                assertThat(each.getState()).isEqualTo("granted");
                assertThat(each.getExtents()).isEqualTo(1);
                assertThat(each.getBytes()).isEqualTo(64 << 10);
              });
      assertThat(status.getCommittedBytes()).isEqualTo(5);
      assertThat(status.getOpenFiles()).isEqualTo(1);
    }
  }

  @Test
  void shouldRefuseAClientThatCallsItselfByTooLongAName() throws Exception {
    try (TestClient client = new TestClient(server, "alice")) {
      Request open =
          Request.newBuilder()
              .setOpenSession(
                  OpenSessionRequest.newBuilder()
                      .setProtocolVersion(Layout.PROTOCOL_VERSION)
                      .setLayoutHash(Layout.LAYOUT_HASH)
                      .setUser("alice")
                      .setClientName("n".repeat(Layout.CLIENT_NAME_MAX + 1)))
              .build();
      for (long clientId : List.of(0L, client.session.getClientId())) {
        Reply reply = client.rpc.call(clientId, 1, open, System.nanoTime() + TestClient.TIMEOUT_NS);
        assertThat(reply.getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(reply.getMessage()).contains("256 bytes");
      }
    }
  }

  @Test
  void shouldRefuseCallsWithoutASession() throws Exception {
    try (TestClient client = new TestClient(server, "alice");
        TestClient other = new TestClient(server, "bob")) {
      long mine = client.session.getClientId();
      // Another client's session does not come with its number.
      client.session = other.session;
      assertThat(client.call(mkdirs("/x")).getStatus()).isEqualTo(Status.SESSION_EXPIRED);
      assertThat(client.openSession().getStatus()).isEqualTo(Status.PERMISSION_DENIED);
      client.session = SessionTerms.newBuilder().setClientId(mine + 1).build();
      assertThat(client.openSession().getStatus()).isEqualTo(Status.SESSION_EXPIRED);
      assertThatThrownBy(client::connectData).hasMessageContaining("session");
    }
  }

  @Test
  void shouldRefuseAnotherVersion() throws Exception {
    try (TestClient client = new TestClient(server, "alice")) {
      client.session = SessionTerms.getDefaultInstance();
      Reply reply =
          client.call(
              Request.newBuilder()
                  .setOpenSession(
                      OpenSessionRequest.newBuilder()
                          .setProtocolVersion(7)
                          .setLayoutHash(Layout.LAYOUT_HASH)
                          .setUser("alice"))
                  .build());
      assertThat(reply.getStatus()).isEqualTo(Status.VERSION_MISMATCH);
      assertThat(reply.getMessage())
          .contains("protocol 7")
          .contains("protocol " + Layout.PROTOCOL_VERSION);
    }
  }

  @Test
  void shouldSayWhomItTakesAUserFor() throws Exception {
    try (TestClient root = new TestClient(server, TestServer.SUPERUSER);
        TestClient carol = new TestClient(server, "carol");
        TestClient bob = new TestClient(server, "bob")) {
      assertThat(root.session.getSuperuser()).isTrue();
      assertThat(carol.session.getSuperuser()).isTrue();
      assertThat(carol.session.getGroupsList()).containsExactly("supergroup");
      assertThat(bob.session.getSuperuser()).isFalse();
      assertThat(bob.session.getGroupsList()).containsExactly("staff");
      // It says so on every connection of a session.
      carol.reconnect();
      assertThat(carol.session.getSuperuser()).isTrue();
      bob.reconnect();
      assertThat(bob.session.getGroupsList()).containsExactly("staff");
    }
  }

  @Test
  void shouldCheckPermissionsWithTheServersGroups() throws Exception {
    try (TestClient root = new TestClient(server, TestServer.SUPERUSER);
        TestClient bob = new TestClient(server, "bob");
        TestClient eve = new TestClient(server, "eve")) {
      ok(root.call(mkdirs("/shared")));
      ok(
          root.call(
              Request.newBuilder()
                  .setSetAttributes(
                      SetAttributes.newBuilder()
                          .setPath("/shared")
                          .setGroup("staff")
                          .setPermission(0770))
                  .build()));
      assertThat(bob.call(mkdirs("/shared/x")).getStatus()).isEqualTo(Status.OK);
      assertThat(eve.call(mkdirs("/shared/y")).getStatus()).isEqualTo(Status.PERMISSION_DENIED);
    }
  }

  @Test
  void shouldExecuteOnceWhenTheReplyIsLost() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER);
        TestClient observer = new TestClient(server, TestServer.SUPERUSER)) {
      long number = ++client.sequence;
      client.rpc.call(
          client.session.getClientId(),
          number,
          TestClient.create("/once", 65536),
          System.nanoTime() + TestClient.TIMEOUT_NS,
          new Ignore());
      await(() -> isOk(observer, "/once"));
      long free = observer.status().getUsage().getFree();
      // The connection goes before anybody looks at the reply; the same call comes again.
      client.reconnect();
      Reply again = client.call(number, TestClient.create("/once", 65536));
      assertThat(again.getStatus()).isEqualTo(Status.OK);
      assertThat(again.getOpenedFile().getGrantsCount()).isEqualTo(1);
      assertThat(observer.status().getUsage().getFree()).isEqualTo(free);
      assertThat(client.call(TestClient.create("/once", 0)).getStatus()).isNotEqualTo(Status.OK);
    }
  }

  private static boolean isOk(TestClient client, String path) {
    try {
      return client.stat(path).getStatus() == Status.OK;
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  private static final class Ignore implements ReplyHandler {
    @Override
    public void onReply(Reply reply) {}

    @Override
    public void onFailure(TakoException failure) {}
  }

  @Test
  void shouldKeepEverythingWhenKilled() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 50; i++) {
          client.writeInline("/f" + round + "-" + i, bytes("data " + round + " " + i));
        }
        long number = ++client.sequence;
        ok(client.call(number, mkdirs("/d" + round)));
        server.kill();
        server = new TestServer(directory.resolve("pool"), clock);
        client.reconnect(server.endpoint());
        assertThat(client.session.getEpoch()).isEqualTo(round + 2);
        assertThat(client.call(number, mkdirs("/d" + round)).getStatus()).isEqualTo(Status.OK);
        for (int r = 0; r <= round; r++) {
          for (int i = 0; i < 50; i++) {
            assertThat(client.readInline("/f" + r + "-" + i))
                .isEqualTo(bytes("data " + r + " " + i));
          }
        }
        assertThat(client.status().getFiles()).isEqualTo(50L * (round + 1));
      }
    }
  }

  @Test
  void shouldWaitForAClientWhoseAttemptToConnectWentToTheServerThatIsGone() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER, 60_000)) {
      ok(client.call(TestClient.create("/open", 65536)));
      for (int starts = 0; starts < 2; starts++) { // the second time from a checkpoint
        server.kill();
        server = new TestServer(directory.resolve("pool"), clock);
        server.pass(60_000);
        client.reconnect(server.endpoint());
        assertThat(client.status().getOpenFiles()).isEqualTo(1);
        server.close();
        server = new TestServer(directory.resolve("pool"), clock);
        client.reconnect(server.endpoint());
      }
      // A session that has been back waits no longer than others.
      try (TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
        client.rpc.close();
        await(() -> connections(other) == 1);
        server.pass(11_000);
        assertThat(other.status().getOpenFiles()).isZero();
      }
    }
  }

  @Test
  void shouldEndASessionThatIsNotBackAfterTheTimeOfItsAttempts() throws Exception {
    try (TestClient gone = new TestClient(server, TestServer.SUPERUSER, 60_000)) {
      ok(gone.call(TestClient.create("/open", 65536)));
      server.kill();
      server = new TestServer(directory.resolve("pool"), clock);
      server.pass(71_000);
      try (TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
        assertThat(other.status().getOpenFiles()).isZero();
      }
    }
  }

  @Test
  void shouldStartFromACheckpointAfterACleanStop() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      client.writeInline("/f", bytes("kept"));
      long last = client.status().getLogLastIndex();
      server.close();
      server = new TestServer(directory.resolve("pool"), clock);
      client.reconnect(server.endpoint());
      assertThat(client.readInline("/f")).isEqualTo(bytes("kept"));
      var status = client.status();
      assertThat(status.getCheckpointIndex()).isEqualTo(last);
      assertThat(status.getCountersMap()).doesNotContainKey("log.applied");
    }
  }

  @Test
  void shouldMakeCheckpointsAndReleaseTheLog() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      byte[] data = new byte[2000];
      for (int i = 0; i < 5000; i++) {
        client.writeInline("/f" + i % 100 + "-" + i, data);
        ok(
            client.call(
                Request.newBuilder()
                    .setDelete(Delete.newBuilder().setPath("/f" + i % 100 + "-" + i))
                    .build()));
        server.server.tick();
      }
      var status = client.status();
      assertThat(status.getCountersOrThrow("checkpoints")).isGreaterThan(5);
      assertThat(status.getCheckpointIndex()).isGreaterThan(0);
      assertThat(status.getLogSegments()).isLessThanOrEqualTo(2);
    }
  }

  @Test
  void shouldEndTheSessionOfAClientThatIsGone() throws Exception {
    try (TestClient gone = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      long free = other.status().getUsage().getFree();
      ok(gone.call(TestClient.create("/open", 65536)));
      assertThat(other.status().getOpenFiles()).isEqualTo(1);
      gone.rpc.close();
      await(() -> connections(other) == 1);
      server.pass(9_000);
      assertThat(other.status().getOpenFiles()).isEqualTo(1);
      server.pass(2_000);
      assertThat(other.status().getOpenFiles()).isEqualTo(0);
      assertThat(other.stat("/open").getFile().getUnderConstruction()).isFalse();
      server.pass(3_000);
      assertThat(other.status().getUsage().getFree()).isEqualTo(free);
      TakoException expired = catchThrowableOfType(gone::reconnect, TakoException.class);
      assertThat(expired.status()).isEqualTo(Status.SESSION_EXPIRED);
    }
  }

  private static int connections(TestClient client) {
    try {
      return client.status().getConnectionsCount();
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldGoOnWithASessionThatReconnectsInTime() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      ok(client.call(TestClient.create("/open", 65536)));
      client.rpc.close();
      server.pass(9_000);
      client.reconnect();
      server.pass(30_000);
      assertThat(client.status().getOpenFiles()).isEqualTo(1);
    }
  }

  @Test
  void shouldGiveTheRecordedReplyOfACallThatWouldBeRefusedByNow() throws Exception {
    try (TestClient doubting = new TestClient(server, TestServer.SUPERUSER);
        TestClient filling = new TestClient(server, TestServer.SUPERUSER)) {
      Request request = mkdirs("/done");
      long number = ++doubting.sequence;
      ok(doubting.call(number, request));
      Reply full = Reply.getDefaultInstance();
      for (int i = 0; full.getStatus() == Status.OK; i++) {
        full = filling.call(mkdirs("/" + "n".repeat(200) + i));
      }
      assertThat(full.getStatus()).isEqualTo(Status.NO_SPACE);
      assertThat(doubting.call(number + 1, mkdirs("/new")).getStatus()).isEqualTo(Status.NO_SPACE);
      Request again = request.toBuilder().setAcknowledgedBelow(1).build();
      Reply repeated =
          doubting.rpc.call(
              doubting.session.getClientId(),
              number,
              again,
              System.nanoTime() + TestClient.TIMEOUT_NS);
      assertThat(repeated.getStatus()).isEqualTo(Status.OK);
    }
  }
}
