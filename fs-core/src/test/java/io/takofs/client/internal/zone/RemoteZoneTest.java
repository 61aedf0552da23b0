package io.takofs.client.internal.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.proto.Arenas;
import io.takofs.proto.RemoteArena;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RemoteZoneTest {
  private static final int SIZE = 65536;

  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private LocalMemory memory;
  private MemoryRegion arena;
  private RemoteZone zone;

  @BeforeEach
  void connect() throws IOException {
    memory = new LocalMemory(transport, new MemoryBudget(64L << 20));
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue served = transport.createCompletionQueue(1);
    arena = domain.allocate(SIZE, Access.REMOTE_READ_WRITE);
    String endpoint =
        transport
            .listen("127.0.0.1:0", acceptor(new QueuePairConfig(domain, served, served, 1, 1)))
            .endpoint();
    CompletionQueue completions = transport.createCompletionQueue(RemoteZone.OPERATIONS_MAX);
    QueuePair pair =
        transport.connect(
            endpoint,
            new QueuePairConfig(
                memory.domain(), completions, completions, RemoteZone.OPERATIONS_MAX, 0),
            new byte[0],
            TimeUnit.SECONDS.toNanos(20));
    Arenas shown =
        Arenas.newBuilder()
            .addArenas(
                RemoteArena.newBuilder()
                    .setAddress(arena.address())
                    .setRkey(arena.rkey())
                    .setLength(SIZE))
            .build();
    zone = new RemoteZone(shown, pair, completions, memory.staging(), Clock.SYSTEM);
  }

  @AfterEach
  void close() {
    zone.close();
    memory.close();
    transport.close();
  }

  private static ConnectionAcceptor acceptor(QueuePairConfig config) {
    return new ConnectionAcceptor() {
      @Override
      public Accept onConnect(String remoteName, byte[] privateData) {
        return new Accept(config, new byte[0]);
      }

      @Override
      public void onConnected(QueuePair queuePair, Accept accept) {}

      @Override
      public void onAborted(Accept accept) {}

      @Override
      public void onDisconnected(QueuePair queuePair) {}
    };
  }

  @Test
  void shouldTransferInSpiteOfAnInterruptAndKeepIt() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    MemoryRegion local = memory.staging().tryTake(8);
    local.buffer().putLong(0, 77);
    Thread.currentThread().interrupt();
    Transfer transfer = zone.write(deadline, new RemoteZone.Piece(local, 0, 8, 0, 4096, 0));
    assertThat(transfer.await(deadline)).isTrue();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(arena.buffer().getLong(4096)).isEqualTo(77);
  }
}
