package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections to the data zone over shared memory, as many as a server sees in its life. */
@Timeout(120)
class ShmDataConnectionTest {
  /** Closes data connections when their peers do. */
  private static final class ClosingHandler implements DataHandler {
    private final ProtectionDomain domain;

    ClosingHandler(ProtectionDomain domain) {
      this.domain = domain;
    }

    @Override
    public ProtectionDomain admitDataConnection(Transport transport, long clientId) {
      return domain;
    }

    @Override
    public void onDataAborted(Transport transport, ProtectionDomain aborted) {}

    @Override
    public void onDataConnected(
        Transport transport, ConnectionInfo client, QueuePair pair, ProtectionDomain admitted) {}

    @Override
    public void onDataCompletion(QueuePair pair, long workRequestId, CompletionStatus status) {}

    @Override
    public void onDataDisconnected(long clientId, QueuePair pair) {
      pair.close();
    }
  }

  @Test
  void shouldTakeMoreDataConnectionsInItsLifeThanAtATime() throws Exception {
    try (ShmTransport serving = ShmTransport.create();
        ShmTransport calling = ShmTransport.create();
        RpcServer server =
            new RpcServer(
                serving,
                new RpcServices(Map.of(), new ClosingHandler(serving.allocateProtectionDomain())),
                7,
                4)) {
      Transport.Listener listener = serving.listen("", server.acceptor());
      ProtectionDomain domain = calling.allocateProtectionDomain();
      for (int i = 0; i < Layout.SHM_QUEUE_PAIRS + 64; i++) {
        CompletionQueue completions = calling.createCompletionQueue(1);
        QueuePair pair =
            calling.connect(
                listener.endpoint(),
                new QueuePairConfig(domain, completions, completions, 1, 0),
                ConnectionInfo.ours(Layout.CONNECTION_DATA, 1, 7, 0, 0).pack(),
                TimeUnit.SECONDS.toNanos(20));
        assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
        pair.close();
        completions.close();
      }
    }
  }
}
