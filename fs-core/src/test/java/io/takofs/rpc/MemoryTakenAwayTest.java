package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.RpcServerConnection;
import io.takofs.client.internal.zone.LocalMemory;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.proto.Arenas;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Reply;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A server on its way down takes its memory out of the clients' reach before they learn that their
 * connections to it end.
 */
class MemoryTakenAwayTest {
  private static final String ENDPOINT = "server";
  private static final SessionTerms TERMS =
      SessionTerms.newBuilder().setSessionTtlMs(16_000).build();

  private final LoopbackTransport transport = new LoopbackTransport(true);

  @Test
  void shouldCountAsTheEndOfTheConnectionWhereMemoryIsMapped() throws IOException {
    TakoException failure = openZone(transport::allocateProtectionDomain);
    assertThat(failure).hasMessageContaining(ENDPOINT);
    assertThat(failure.status()).isEqualTo(Status.DISCONNECTED);
  }

  @Test
  void shouldSayThatTheServerIsBusyWithAnEarlierConnection() throws IOException {
    TakoException failure =
        openZone(
            () -> {
              throw new TakoException(Status.BUSY, "an earlier connection has not ended");
            });
    assertThat(failure).hasMessageContaining("an earlier connection has not ended");
    assertThat(failure.status()).isEqualTo(Status.BUSY);
  }

  /** Of a server that admits data connections to what {@code domains} gives. */
  private TakoException openZone(Domains domains) throws IOException {
    transport.claimToMap();
    Map<ConnectionKind, RpcHandler> calls = Map.of(ConnectionKind.RPC, new ShowsOneArena());
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    try (RpcServer rpc =
            new RpcServer(transport, new RpcServices(calls, new Admits(domains)), 7, 40);
        Transport.Listener listener = transport.listen(ENDPOINT, rpc.acceptor());
        LocalMemory memory = new LocalMemory(transport, new MemoryBudget(1 << 20));
        RpcServerConnection connection =
            RpcServerConnection.connect(
                transport,
                memory,
                new RpcTarget(ConnectionKind.RPC, listener.endpoint(), ENDPOINT, 0),
                deadline,
                Clock.SYSTEM)) {
      return catchThrowableOfType(() -> connection.openZone(TERMS, deadline), TakoException.class);
    } finally {
      transport.close();
    }
  }

  private interface Domains {
    ProtectionDomain get() throws IOException;
  }

  private static final class ShowsOneArena implements RpcHandler {
    @Override
    public void onCalls(List<IncomingCall> calls) {
      Arenas arenas =
          Arenas.newBuilder()
              .addArenas(RemoteArena.newBuilder().setAddress(4096).setLength(4096).setRkey(1))
              .build();
      calls.forEach(call -> call.reply(Reply.newBuilder().setArenas(arenas).build()));
    }

    @Override
    public void onDisconnected(RpcConnection connection) {}
  }

  private record Admits(Domains domains) implements DataHandler {
    @Override
    public ProtectionDomain admitDataConnection(Transport over, long clientId) throws IOException {
      return domains.get();
    }

    @Override
    public void onDataAborted(Transport over, ProtectionDomain domain) {}

    @Override
    public void onDataConnected(
        Transport over, ConnectionInfo client, QueuePair pair, ProtectionDomain domain) {}

    @Override
    public void onDataCompletion(QueuePair pair, long workRequestId, CompletionStatus status) {}

    @Override
    public void onDataDisconnected(long clientId, QueuePair pair) {}
  }
}
