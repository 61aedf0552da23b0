package io.takofs.server.catalog.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.PeerCall;
import io.takofs.proto.Status;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A peer of the catalog where another one was, which lost its directory. */
class FormerPeerTest {
  private static final String SELF = "127.0.0.1:1";
  private static final long LIMIT_NS = 1_000_000_000;

  @TempDir private Path directory;

  @Test
  void shouldTakeNothingThatIsMeantForTheFormerOne() throws Exception {
    SecureRandom random = new SecureRandom();
    String catalog = UUID.randomUUID().toString();
    PeerDirectory own = PeerDirectory.open(directory.resolve("catalog"), random);
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        PeerConnections connections = new PeerConnections(transport, null, random, Clock.SYSTEM)) {
      own.join(catalog);
      RaftPart part = RaftPart.start(own, SELF, connections, Clock.SYSTEM);
      try {
        List<LogEntryProto> later =
            List.of(LogEntryProto.newBuilder().setTerm(4).setIndex(655).build());
        assertThatThrownBy(() -> part.answer(append("former", catalog, later), LIMIT_NS))
            .isInstanceOfSatisfying(
                TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
            .hasMessageContaining("former");
        assertThat(part.answer(append(own.id(), catalog, List.of()), LIMIT_NS).hasRatis()).isTrue();
      } finally {
        part.close();
      }
    } finally {
      own.close();
    }
  }

  private static PeerCall append(String peer, String catalog, List<LogEntryProto> entries) {
    AppendEntriesRequestProto request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(RaftPeerId.valueOf("leader").toByteString())
                    .setReplyId(RaftPeerId.valueOf(peer).toByteString())
                    .setRaftGroupId(
                        RaftGroupIdProto.newBuilder()
                            .setId(RaftGroupId.valueOf(UUID.fromString(catalog)).toByteString())))
            .setLeaderTerm(4)
            .addAllEntries(entries)
            .build();
    return PeerCall.newBuilder()
        .setAppendEntries(ByteString.copyFrom(request.toByteArray()))
        .build();
  }
}
