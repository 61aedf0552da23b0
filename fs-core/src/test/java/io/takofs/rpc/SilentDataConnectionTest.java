package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.RpcServerConnection;
import io.takofs.client.internal.zone.LocalMemory;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.proto.SessionTerms;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server that answers calls, while attempts to connect to its data get no answer. */
class SilentDataConnectionTest {
  private static final String ENDPOINT = "server";
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final SessionTerms TERMS =
      SessionTerms.newBuilder().setSessionTtlMs(16_000).build();

  private final AtomicLong now = new AtomicLong();
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return now.get();
        }

        @Override
        public long currentTimeMillis() {
          return 0;
        }
      };
  private final LoopbackTransport transport = new LoopbackTransport(true);
  private EchoServer server;
  private LocalMemory memory;
  private RpcServerConnection connection;

  @BeforeEach
  void connect() throws IOException {
    server = new EchoServer(transport, ENDPOINT);
    memory = new LocalMemory(transport, new MemoryBudget(1 << 20));
    RpcTarget target = new RpcTarget(ConnectionKind.RPC, ENDPOINT, ENDPOINT, 0);
    connection = RpcServerConnection.connect(transport, memory, target, SECOND, clock);
    transport.silence(now::addAndGet);
  }

  @AfterEach
  void close() {
    connection.close();
    memory.close();
    server.close();
    transport.close();
  }

  private void openZone(long deadlineNs) {
    assertThatThrownBy(() -> connection.openZone(TERMS, deadlineNs))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("no answer");
  }

  @Test
  void shouldLeaveTimeForAnotherWayWhileTheSessionLives() {
    openZone(60 * SECOND);
    assertThat(now.get()).isEqualTo(4 * SECOND);
    assertThat(connection.isOpen()).isFalse();
  }

  @Test
  void shouldGoOnWithItsConnectionWhenTheCallerHasNoMoreTime() {
    openZone(SECOND);
    assertThat(now.get()).isEqualTo(SECOND);
    assertThat(connection.isOpen()).isTrue();
  }
}
