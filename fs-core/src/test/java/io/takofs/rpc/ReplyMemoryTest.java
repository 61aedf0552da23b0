package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that has no memory left for what it must answer with. */
@Timeout(60)
class ReplyMemoryTest {
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldEndTheConnectionThatThereIsNoMemoryToAnswer(boolean hasThread) throws Exception {
    LoopbackTransport transport = new LoopbackTransport(hasThread);
    long patience = TimeUnit.SECONDS.toNanos(10);
    try (transport;
        EchoServer server = new EchoServer(transport, "echo");
        RpcClient client =
            RpcClient.connect(
                transport,
                new RpcTarget(ConnectionKind.RPC, server.endpoint(), "echo", 0),
                patience,
                Clock.SYSTEM)) {
      transport.failNextAllocation();
      TakoException failure =
          catchThrowableOfType(() -> RpcTests.call(client, "/a", patience), TakoException.class);
      assertThat(failure.status()).isEqualTo(Status.DISCONNECTED);
      try (RpcClient next =
          RpcClient.connect(
              transport,
              new RpcTarget(ConnectionKind.RPC, server.endpoint(), "echo", 0),
              patience,
              Clock.SYSTEM)) {
        assertThat(RpcTests.call(next, "/b", patience).getMessage()).isEqualTo("/b");
      }
    }
  }
}
