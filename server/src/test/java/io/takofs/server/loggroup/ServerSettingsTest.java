package io.takofs.server.loggroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.config.TakoConfig;
import io.takofs.proto.Create;
import io.takofs.proto.GetFile;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.store.HeapStore;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServerSettingsTest {
  private static Reply ok(Reply reply) {
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply;
  }

  @Test
  void shouldRefuseThatMoreCopiesMustBeThanAreKept() throws Exception {
    TakoConfig config = new TakoConfig().set("fs.tako.replication.max", "3");
    ServerSettings.checkCopies(config.set("fs.tako.replication.min", "3"));
    assertThatThrownBy(() -> ServerSettings.checkCopies(config.set("fs.tako.replication.min", "8")))
        .hasMessage(
            "fs.tako.replication.min is 8, but no more than fs.tako.replication.max = 3 copies are"
                + " kept: lower the one or raise the other");
  }

  @Test
  void shouldGiveFilesADefaultBlockSizeBeyondTwoGibibytes() throws Exception {
    TakoConfig config = TakoConfig.of(Map.of("fs.tako.block.size", "3g").entrySet(), "the test");
    ServerSettings settings = ServerSettings.of(config, "root");
    StateMachine machine = new StateMachine(new HeapStore(Long.MAX_VALUE));
    ok(
        machine.apply(
            1, LogEntry.newBuilder().setFormatGroup(settings.limits().toProto(1)).build()));
    LogEntry.Builder entry = LogEntry.newBuilder();
    entry.getCallerBuilder().setUser("root").setSuperuser(true);
    entry.getRequestBuilder().setOpenSession(OpenSessionRequest.newBuilder().setUser("root"));
    long client = ok(machine.apply(2, entry.build())).getSession().getClientId();
    entry.setClientId(client).setSequence(1);
    entry.getRequestBuilder().setCreate(Create.newBuilder().setPath("/f").setPermission(0644));
    ok(machine.apply(3, entry.build()));
    Request stat = Request.newBuilder().setGetFile(GetFile.newBuilder().setPath("/f")).build();
    assertThat(ok(machine.query(entry.getCaller(), stat)).getFile().getBlockSize())
        .isEqualTo(3L << 30);
  }
}
