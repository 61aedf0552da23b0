package io.takofs.server;

import static io.takofs.server.TestClient.mkdirs;
import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.CloseSession;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SetSafeMode;
import io.takofs.proto.Status;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class SafeModeTest {
  private static final byte[] DATA = "data".getBytes(StandardCharsets.UTF_8);

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock();
  private TestServer server;
  private TestClient client;

  @BeforeEach
  void start() throws Exception {
    server = new TestServer(directory.resolve("pool"), clock);
    client = new TestClient(server, TestServer.SUPERUSER);
    client.writeInline("/f", DATA);
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private static Request safeMode(boolean on) {
    return Request.newBuilder().setSetSafeMode(SetSafeMode.newBuilder().setOn(on)).build();
  }

  private static final Request ASK =
      Request.newBuilder().setSetSafeMode(SetSafeMode.getDefaultInstance()).build();

  @Test
  void shouldRefuseChangesAndServeReaders() throws Exception {
    assertThat(ok(client.call(ASK)).getSafeMode()).isFalse();
    assertThat(ok(client.call(safeMode(true))).getSafeMode()).isTrue();
    assertThat(ok(client.call(ASK)).getSafeMode()).isTrue();
    Reply refused = client.call(mkdirs("/d"));
    assertThat(refused.getStatus()).isEqualTo(Status.SAFE_MODE);
    assertThat(refused.getMessage()).contains("safe mode");
    assertThat(client.readInline("/f")).isEqualTo(DATA);
    try (TestClient another = new TestClient(server, "alice")) {
      assertThat(another.readInline("/f")).isEqualTo(DATA);
    }
    assertThat(ok(client.call(safeMode(false))).getSafeMode()).isFalse();
    ok(client.call(mkdirs("/d")));
  }

  @Test
  void shouldAnswerACallThatWasExecutedBefore() throws Exception {
    Request mkdirs = mkdirs("/d");
    ok(client.call(mkdirs));
    try (TestClient another = new TestClient(server, TestServer.SUPERUSER)) {
      ok(another.call(safeMode(true)));
    }
    ok(client.call(client.sequence, mkdirs));
  }

  @Test
  void shouldObeySuperusersOnly() throws Exception {
    try (TestClient another = new TestClient(server, "alice")) {
      assertThat(another.call(safeMode(true)).getStatus()).isEqualTo(Status.PERMISSION_DENIED);
      assertThat(ok(another.call(ASK)).getSafeMode()).isFalse();
      ok(client.call(safeMode(true)));
      assertThat(another.call(safeMode(false)).getStatus()).isEqualTo(Status.PERMISSION_DENIED);
      assertThat(ok(another.call(ASK)).getSafeMode()).isTrue();
    }
  }

  @Test
  void shouldKeepLeasesUntilItEnds() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER)) {
      OpenedFile file = ok(writer.call(TestClient.create("/open", 0))).getOpenedFile();
      ok(client.call(safeMode(true)));
      Request close =
          Request.newBuilder().setCloseSession(CloseSession.getDefaultInstance()).build();
      assertThat(writer.call(close).getStatus()).isEqualTo(Status.SAFE_MODE);
      server.pass(3_600_000);
      assertThat(client.stat("/open").getFile().getUnderConstruction()).isTrue();
      Request renew =
          Request.newBuilder()
              .setRenewLeases(
                  RenewLeases.newBuilder()
                      .setFileId(file.getFile().getId())
                      .setLeaseEpoch(file.getLeaseEpoch()))
              .build();
      ok(writer.call(renew));
      ok(client.call(safeMode(false)));
      ok(writer.call(close));
      assertThat(client.stat("/open").getFile().getUnderConstruction()).isFalse();
    }
  }

  @Test
  void shouldEndWithTheServer() throws Exception {
    ok(client.call(safeMode(true)));
    client.close();
    server.close();
    server = new TestServer(directory.resolve("pool"), clock);
    client = new TestClient(server, TestServer.SUPERUSER);
    ok(client.call(mkdirs("/d")));
  }
}
