package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.QueuePairConfig;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections that cannot be made, at whatever step and for whatever reason, leave nothing. */
class FailedConnectTest {
  private static final String ENDPOINT = "server";

  private final LoopbackTransport transport = new LoopbackTransport(false);

  @AfterEach
  void close() {
    transport.close();
  }

  private void connect() throws IOException {
    RpcClient.connect(
            transport,
            new RpcTarget(ConnectionKind.RPC, ENDPOINT, ENDPOINT, 0),
            TimeUnit.SECONDS.toNanos(10),
            Clock.SYSTEM)
        .close();
  }

  private void assertNothingLeft() {
    assertThat(transport.openRegions()).isZero();
    assertThat(transport.openConnections()).isZero();
  }

  @Test
  void shouldLeaveNothingWithoutMemoryForSlots() {
    transport.failNextAllocation();
    assertThatThrownBy(this::connect).isInstanceOf(OutOfMemoryError.class);
    assertNothingLeft();
  }

  @Test
  void shouldLeaveNothingWithoutACompletionQueue() {
    transport.failNextQueue();
    assertThatThrownBy(this::connect).isInstanceOf(OutOfMemoryError.class);
    assertNothingLeft();
  }

  @Test
  void shouldLeaveNothingWhenConnectingEndsInAnError() {
    transport.listen(ENDPOINT, new Accepting(new byte[0], new OutOfMemoryError("as told")));
    assertThatThrownBy(this::connect).isInstanceOf(OutOfMemoryError.class).hasMessage("as told");
    assertNothingLeft();
  }

  @Test
  void shouldLeaveNothingWhenTheServersAnswerIsNone() {
    transport.listen(ENDPOINT, new Accepting(new byte[3], null));
    assertThatThrownBy(this::connect).isInstanceOf(IOException.class);
    assertNothingLeft();
  }

  /** Accepts with some private data, or fails. */
  private record Accepting(byte[] answer, Error failure) implements ConnectionAcceptor {
    @Override
    public Accept onConnect(String remoteName, byte[] privateData) {
      if (failure != null) {
        throw failure;
      }
      return new Accept(new QueuePairConfig(null, null, null, 0, 0), answer);
    }
  }
}
