package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.client.internal.session.RpcServerConnection;
import io.takofs.client.internal.zone.LocalMemory;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.layout.Layout;
import io.takofs.proto.GetArenas;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A pool with more arenas than one reply can describe. */
@Timeout(120)
class ManyArenasTest {
  private static final int ARENAS = 5000;
  private static final int LENGTH = 4096;

  @TempDir Path directory;

  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private TestServer server;
  private LocalMemory memory;
  private RpcServerConnection connection;
  private SessionTerms terms;

  @BeforeEach
  void connect() throws Exception {
    server = TestServer.withArenas(directory.resolve("pool"), new ManualClock(), ARENAS);
    memory = new LocalMemory(transport, new MemoryBudget(64L << 20));
    connection =
        RpcServerConnection.connect(
            transport,
            memory,
            new RpcTarget(ConnectionKind.RPC, server.endpoint(), "test", 0),
            deadline(),
            Clock.SYSTEM);
    OpenSessionRequest open =
        OpenSessionRequest.newBuilder()
            .setProtocolVersion(Layout.PROTOCOL_VERSION)
            .setLayoutHash(Layout.LAYOUT_HASH)
            .setUser(TestServer.SUPERUSER)
            .setClientName("test")
            .build();
    terms =
        TestClient.ok(
                connection.call(
                    0, 1, Request.newBuilder().setOpenSession(open).build(), deadline()))
            .getSession();
  }

  @AfterEach
  void close() {
    connection.close();
    memory.close();
    transport.close();
    server.close();
  }

  private static long deadline() {
    return System.nanoTime() + TestClient.TIMEOUT_NS;
  }

  @Test
  void shouldReachTheLastArena() throws Exception {
    RemoteZone zone = (RemoteZone) connection.openZone(terms, deadline());
    try (MemoryRegion region = memory.domain().allocate(LENGTH, Access.LOCAL)) {
      for (int i = 0; i < LENGTH; i++) {
        region.buffer().put(i, (byte) (i * 31));
      }
      int offset = Layout.ARENA_CHECKSUM_SIZE;
      RemoteZone.Piece piece = new RemoteZone.Piece(region, 0, LENGTH, ARENAS - 1, offset, 0);
      assertThat(zone.write(deadline(), piece).await(deadline())).isTrue();
      byte[] stored = server.arenaBytes(offset, LENGTH);
      byte[] expected = new byte[LENGTH];
      region.buffer().get(0, expected);
      assertThat(stored).isEqualTo(expected);
    }
  }

  @Test
  void shouldRefuseToDescribeAnArenaThatIsNotThere() throws Exception {
    connection.openZone(terms, deadline());
    for (int first : new int[] {ARENAS, Integer.MAX_VALUE, -1}) {
      Request request =
          Request.newBuilder().setGetArenas(GetArenas.newBuilder().setFirst(first)).build();
      Reply reply = connection.call(terms.getClientId(), 1, request, deadline());
      assertThat(reply.getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
      assertThat(reply.getMessage()).contains(Integer.toUnsignedString(first)).contains("5000");
    }
  }
}
