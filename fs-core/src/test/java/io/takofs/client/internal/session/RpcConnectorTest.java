package io.takofs.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.config.TakoConfig;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RpcConnectorTest {
  /** A thread that reads may be about to connect when its client is closed. */
  @Test
  void shouldConnectToNoServerOnceItIsClosed() throws Exception {
    String server = "localhost:1";
    RpcConnector connector =
        new RpcConnector(
            List.of(server), TakoConfig.of(Map.<String, String>of().entrySet(), "test"));
    connector.close();
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    assertThat(catchThrowable(() -> connector.connectData(server, 1, deadlineNs)))
        .hasMessageContaining("the client is closed");
    assertThat(connector.counters()).isEmpty();
  }
}
