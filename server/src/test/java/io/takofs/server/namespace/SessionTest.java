package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import io.takofs.proto.CloseSession;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Status;
import io.takofs.rpc.Operations;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.namespace.state.OpenLease;
import io.takofs.server.namespace.state.SessionInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionTest {
  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();

  @AfterEach
  void check() {
    Consistency.check(server);
  }

  private static Request.Builder mkdirs(String path) {
    return Request.newBuilder().setMkdirs(Mkdirs.newBuilder().setPath(path).setPermission(0755));
  }

  private static Request.Builder create(String path) {
    return Request.newBuilder()
        .setCreate(Create.newBuilder().setPath(path).setOverwrite(true).setGrantBytes(1));
  }

  private Reply send(long sequence, long acknowledgedBelow, Request.Builder request) {
    return server.apply(client.entry(request.setAcknowledgedBelow(acknowledgedBelow), sequence));
  }

  @Test
  void shouldOpenSessionsWithNewIds() {
    SessionInfo session = server.machine.session(client.id);
    assertThat(session.user()).isEqualTo(Harness.SUPERUSER);
    assertThat(session.clientName()).isEqualTo("test");
    assertThat(session.openedMs()).isEqualTo(server.timeMs);
    assertThat(server.superuser().id).isNotEqualTo(client.id).isNotZero();
    assertThat(server.machine.sessions()).hasSize(2);
  }

  @Test
  void shouldResumeASessionOfTheSameUserOnly() {
    Request.Builder open =
        Request.newBuilder()
            .setOpenSession(OpenSessionRequest.newBuilder().setUser(Harness.SUPERUSER));
    LogEntry.Builder entry = LogEntry.newBuilder().setRequest(open);
    assertThat(assertOk(server.apply(entry.setClientId(client.id))).getSession().getClientId())
        .isEqualTo(client.id);
    assertStatus(server.apply(entry.setClientId(12345)), Status.SESSION_EXPIRED);
    open.getOpenSessionBuilder().setUser("eve");
    assertStatus(
        server.apply(entry.setClientId(client.id).setRequest(open)), Status.PERMISSION_DENIED);
    open.getOpenSessionBuilder().setUser("");
    assertStatus(server.apply(entry.setClientId(0).setRequest(open)), Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldExecuteACallOnceHoweverOftenItComes() {
    Reply first = assertOk(send(1, 0, create("/f")));
    long free = server.free();
    assertThat(send(1, 0, create("/f"))).isEqualTo(first);
    assertThat(client.info("/f").getId()).isEqualTo(first.getOpenedFile().getFile().getId());
    assertThat(server.free()).isEqualTo(free);
    Reply failed = assertStatus(send(2, 0, mkdirs("/a/b")), Status.NOT_FOUND);
    assertOk(send(3, 0, mkdirs("/a")));
    assertThat(send(2, 0, mkdirs("/a/b"))).isEqualTo(failed);
    server.restart();
    assertThat(send(1, 0, create("/f"))).isEqualTo(first);
    assertThat(send(2, 0, mkdirs("/a/b"))).isEqualTo(failed);
  }

  @Test
  void shouldForgetWhatIsAcknowledged() {
    assertOk(send(1, 0, mkdirs("/a")));
    assertOk(send(2, 0, mkdirs("/b")));
    assertOk(send(5, 2, mkdirs("/c")));
    assertStatus(send(1, 0, mkdirs("/x")), Status.MALFORMED);
    server.restart();
    assertStatus(send(1, 0, mkdirs("/x")), Status.MALFORMED);
    assertOk(send(2, 2, mkdirs("/x")));
    assertOk(send(3, 2, mkdirs("/y")));
    assertThat(client.names("/")).containsExactly("a", "b", "c", "y");
    assertStatus(send(9, 10, mkdirs("/z")), Status.MALFORMED);
  }

  @Test
  void shouldLimitWhatAClientLeavesUnacknowledged() {
    for (int i = 1; i <= 256; i++) {
      assertOk(send(i, 0, mkdirs("/a" + i)));
    }
    assertStatus(send(257, 0, mkdirs("/x")), Status.MALFORMED);
    assertOk(send(257, 2, mkdirs("/x")));
  }

  @Test
  void shouldRefuseAClientWithoutSession() {
    LogEntry.Builder entry =
        LogEntry.newBuilder().setClientId(99).setSequence(1).setRequest(mkdirs("/a"));
    assertStatus(server.apply(entry), Status.SESSION_EXPIRED);
    assertStatus(server.apply(entry.setClientId(0)), Status.SESSION_EXPIRED);
    assertStatus(server.expireSession(99).toBuilder().setMessage("").build(), Status.OK);
  }

  @Test
  void shouldNotExecuteWhatIsNoMutation() {
    assertStatus(send(1, 0, Request.newBuilder()), Status.MALFORMED);
    assertStatus(server.apply(LogEntry.newBuilder().setClientId(client.id)), Status.MALFORMED);
    assertStatus(server.machine.query(client.caller, mkdirs("/a").build()), Status.MALFORMED);
  }

  @Test
  void shouldLogExactlyTheMutations() {
    for (FieldDescriptor field : Request.getDescriptor().getOneofs().get(0).getFields()) {
      Request.Builder request = Request.newBuilder();
      request.setField(field, request.newBuilderForField(field).build());
      Reply reply = server.superuser().call(request);
      boolean refused = reply.getMessage().contains("is not logged");
      assertThat(Operations.isMutation(request.getOperationCase()))
          .as(field.getName())
          .isEqualTo(!refused);
    }
    assertThat(Operations.isMutation(OperationCase.OPERATION_NOT_SET)).isFalse();
  }

  @Test
  void shouldEndASessionOnClose() {
    OpenedFile opened = client.opened("/f");
    client.granted(opened, 1);
    assertOk(client.call(Request.newBuilder().setCloseSession(CloseSession.newBuilder())));
    assertThat(server.machine.session(client.id)).isNull();
    assertStatus(client.mkdirs("/a"), Status.SESSION_EXPIRED);
    Harness.Client other = server.superuser();
    assertThat(other.info("/f").getUnderConstruction()).isFalse();
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10)).hasSize(1);
  }

  @Test
  void shouldCloseTheFilesOfAnExpiredSessionAtTheirCommittedLength() {
    OpenedFile opened = client.opened("/f");
    Extent used = client.granted(opened, 1);
    client.granted(opened, 1);
    client.committed(commit(opened).addExtents(written(used, 0, 100)).setLength(100));
    server.expireSession(client.id);
    Harness.Client other = server.superuser();
    assertThat(other.info("/f").getUnderConstruction()).isFalse();
    assertThat(other.info("/f").getLength()).isEqualTo(100);
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10))
        .extracting(Quarantined::grantee)
        .containsExactly(client.id);
    OpenedFile again = assertOk(other.append("/f")).getOpenedFile();
    assertThat(again.hasLastExtent()).isFalse();
  }

  @Test
  void shouldCloseVeryManyFilesWithSeveralEntries() {
    for (int i = 0; i < 40; i++) {
      client.opened("/f" + i);
    }
    int entries = 0;
    while (server.machine.session(client.id) != null) {
      assertOk(server.expireSession(client.id));
      Consistency.check(server);
      entries++;
    }
    assertThat(entries).isEqualTo(3);
    assertThat(server.machine.leases()).isEmpty();
  }

  @Test
  void shouldCloseTheFilesOfASilentClientAndKeepItsSession() {
    OpenedFile opened = client.opened("/f");
    assertThat(server.machine.leases())
        .containsExactly(
            new OpenLease(opened.getFile().getId(), client.id, opened.getLeaseEpoch(), "f"));
    assertOk(server.expireLeases(client.id));
    assertThat(server.machine.leases()).isEmpty();
    assertStatus(client.commit(commit(opened)), Status.LEASE_LOST);
    assertOk(client.mkdirs("/a"));
  }
}
