package io.takofs.server;

import static io.takofs.server.TestClient.mkdirs;
import static io.takofs.server.TestClient.ok;
import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Append;
import io.takofs.proto.Delete;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.LeaseInfo;
import io.takofs.proto.Leases;
import io.takofs.proto.ListLeases;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.ReplyHandler;
import io.takofs.transport.QueuePair;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
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
  void shouldTellTheSuperuserWhoWritesAndOthersWhatTheyWrite() throws Exception {
    try (TestClient root = new TestClient(server, TestServer.SUPERUSER);
        TestClient bob = new TestClient(server, "bob")) {
      ok(root.call(mkdirs("/a")));
      ok(root.call(TestClient.create("/a/mine", 0)));
      ok(
          root.call(
              Request.newBuilder()
                  .setSetAttributes(SetAttributes.newBuilder().setPath("/a").setPermission(0777))
                  .build()));
      ok(bob.call(TestClient.create("/a/his", 0)));
      server.pass(3000);
      assertThat(leases(root, 0, 0).getLeasesList())
          .extracting(LeaseInfo::getPath, LeaseInfo::getName, LeaseInfo::getUser)
          .containsExactlyInAnyOrder(
              tuple("/a/mine", "mine", TestServer.SUPERUSER), tuple("/a/his", "his", "bob"));
      assertThat(leases(bob, 0, 0).getLeasesList())
          .extracting(LeaseInfo::getPath, LeaseInfo::getOpenMs)
          .containsExactly(tuple("/a/his", 3000L));
      Leases first = leases(root, 0, 1);
      Leases second = leases(root, first.getNextAfter(), 1);
      assertThat(List.of(first.getLeases(0).getName(), second.getLeases(0).getName()))
          .containsExactlyInAnyOrder("mine", "his");
      assertThat(second.getNextAfter()).isZero();
    }
  }

  @Test
  void shouldPageLeasesOfFilesWithTheLongestPaths() throws Exception {
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      String directory = ("/" + "d".repeat(249)).repeat(31);
      ok(client.call(mkdirs(directory)));
      Set<String> opened = new HashSet<>();
      for (int i = 0; i < 20; i++) {
        String path = directory + "/" + "f".repeat(200) + i;
        ok(client.call(TestClient.create(path, 0)));
        opened.add(path);
      }
      Set<String> seen = new HashSet<>();
      long after = 0;
      do {
        Leases page = leases(client, after, 0);
        page.getLeasesList().forEach(lease -> assertThat(seen.add(lease.getPath())).isTrue());
        after = page.getNextAfter();
      } while (after != 0);
      assertThat(seen).isEqualTo(opened);
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

  private static Leases leases(TestClient client, long after, int limit) throws Exception {
    return ok(client.call(
            Request.newBuilder()
                .setListLeases(ListLeases.newBuilder().setAfterFileId(after).setLimit(limit))
                .build()))
        .getLeases();
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
      assertThat(reply.getMessage()).contains("protocol 7").contains("protocol 1");
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
  void shouldMakeCheckpointsAndLetGoOfTheLog() throws Exception {
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
  void shouldLetOthersTakeOverTheFileOfASilentWriter() throws Exception {
    try (TestClient silent = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      Reply opened = ok(silent.call(TestClient.create("/f", 65536)));
      Request append = Request.newBuilder().setAppend(Append.newBuilder().setPath("/f")).build();
      assertThat(other.call(append).getStatus()).isEqualTo(Status.LEASE_HELD);
      server.pass(50_000);
      ok(silent.call(Request.newBuilder().setRenewLeases(RenewLeases.newBuilder()).build()));
      server.pass(50_000);
      assertThat(other.call(append).getStatus()).isEqualTo(Status.LEASE_HELD);
      server.pass(20_000);
      assertThat(other.call(append).getStatus()).isEqualTo(Status.OK);

      Reply late =
          silent.call(
              Request.newBuilder()
                  .setGrantExtents(
                      GrantExtents.newBuilder()
                          .setFileId(opened.getOpenedFile().getFile().getId())
                          .setLeaseEpoch(opened.getOpenedFile().getLeaseEpoch())
                          .setBytes(65536))
                  .build());
      assertThat(late.getStatus()).isEqualTo(Status.LEASE_LOST);
    }
  }

  @Test
  void shouldCloseTheFilesOfAWriterThatIsSilentForTheHardLimit() throws Exception {
    try (TestClient silent = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      ok(silent.call(TestClient.create("/f", 65536)));
      server.pass(19 * 60_000);
      assertThat(other.status().getOpenFiles()).isEqualTo(1);
      server.pass(2 * 60_000);
      assertThat(other.status().getOpenFiles()).isEqualTo(0);
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

  @Test
  void shouldSayWhetherALeaseIsHeld() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      Reply opened = ok(writer.call(TestClient.create("/f", 0)));
      RenewLeases.Builder lease =
          RenewLeases.newBuilder()
              .setFileId(opened.getOpenedFile().getFile().getId())
              .setLeaseEpoch(opened.getOpenedFile().getLeaseEpoch());
      Request renewal = Request.newBuilder().setRenewLeases(lease).build();
      ok(writer.call(renewal));
      assertThat(other.call(renewal).getStatus()).isEqualTo(Status.LEASE_LOST);
      ok(other.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f")).build()));
      assertThat(writer.call(renewal).getStatus()).isEqualTo(Status.LEASE_LOST);
      ok(writer.call(Request.newBuilder().setRenewLeases(RenewLeases.newBuilder()).build()));
    }
  }

  @Test
  void shouldFreeWhatWasTakenFromAClientThatGoesOnWithOtherFiles() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      QueuePair first = writer.connectData();
      long free = other.status().getUsage().getFree();
      ok(writer.call(TestClient.create("/f", 65536)));
      ok(other.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f")).build()));
      server.pass(70_000);
      await(() -> first.state() != QueuePair.State.CONNECTED);
      QueuePair second = writer.connectData();
      server.pass(1_000);
      assertThat(other.status().getUsage().getFree()).isEqualTo(free);
      assertThat(second.state()).isEqualTo(QueuePair.State.CONNECTED);
    }
  }

  @Test
  void shouldEndAClientsEarlierDataConnectionBeforeItsNextOneStands() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      QueuePair first = writer.connectData();
      QueuePair others = other.connectData();
      QueuePair second = writer.connectData();
      await(() -> first.state() != QueuePair.State.CONNECTED);
      assertThat(second.state()).isEqualTo(QueuePair.State.CONNECTED);
      assertThat(others.state()).isEqualTo(QueuePair.State.CONNECTED);
    }
  }

  @Test
  void shouldRefuseADataConnectionWhileAnEarlierOneIsNotLetGoOf() throws Exception {
    AtomicBoolean letGo = new AtomicBoolean();
    try (TestClient hoarder = new TestClient(server, "mallory");
        TestClient other = new TestClient(server, "alice")) {
      long clientId = hoarder.session.getClientId();
      server.server.onDataConnected(
          server.transport,
          ConnectionInfo.ours(Layout.CONNECTION_DATA, clientId, 0, 0, 0),
          pairThatIsRevokedWhen(letGo),
          server.server.admitDataConnection(server.transport, clientId));
      assertThatThrownBy(hoarder::connectData)
          .hasMessageContaining("earlier connection")
          .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
      assertThat(other.connectData().state()).isEqualTo(QueuePair.State.CONNECTED);

      letGo.set(true);
      assertThat(hoarder.connectData().state()).isEqualTo(QueuePair.State.CONNECTED);
    }
  }

  private static QueuePair pairThatIsRevokedWhen(AtomicBoolean letGo) {
    return (QueuePair)
        Proxy.newProxyInstance(
            QueuePair.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (pair, method, arguments) ->
                switch (method.getName()) {
                  case "revoke" -> letGo.get();
                  case "hashCode" -> System.identityHashCode(pair);
                  case "equals" -> pair == arguments[0];
                  default -> null;
                });
  }

  @Test
  void shouldNotReuseAnExtentBeforeItsGranteeIsFenced() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      QueuePair data = writer.connectData();
      long free = other.status().getUsage().getFree();
      ok(writer.call(TestClient.create("/f", 65536)));
      ok(other.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f")).build()));
      server.pass(30_000);
      assertThat(other.status().getUsage().getFree()).isLessThan(free);
      assertThat(data.state()).isEqualTo(QueuePair.State.CONNECTED);
      // Patience ends: the writer is cut off, and the extent is free.
      server.pass(40_000);
      await(() -> data.state() != QueuePair.State.CONNECTED);
      server.pass(1_000);
      assertThat(other.status().getUsage().getFree()).isEqualTo(free);
    }
  }
}
