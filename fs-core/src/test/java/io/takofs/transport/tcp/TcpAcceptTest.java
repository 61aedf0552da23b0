package io.takofs.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.CompletionQueue;
import io.takofs.transport.FileDescriptors;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process without file descriptors to spare. */
@Timeout(60)
class TcpAcceptTest {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
  private static final int WAITING = 8;

  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);

  private QueuePair connect(String endpoint) throws IOException {
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue queue = transport.createCompletionQueue(64);
    return transport.connect(
        endpoint, new QueuePairConfig(domain, queue, queue, 8, 8), new byte[0], TIMEOUT_NS);
  }

  @Test
  void shouldWaitForFileDescriptorsWithoutSpinning() throws IOException {
    List<SocketChannel> waiting = new ArrayList<>();
    try (EchoingServer server = new EchoingServer(TcpSettings.DEFAULT)) {
      // The earlier connection may end late, and give back a descriptor.
      for (int i = 0; i < WAITING; i++) {
        waiting.add(SocketChannel.open());
      }
      connect(server.endpoint()).close(); // loads all classes
      InetSocketAddress address = HostPort.parse(server.endpoint());
      long begin = System.nanoTime();
      int failures;
      try (FileDescriptors none = FileDescriptors.exhaust()) {
        assertThat(none).isNotNull();
        for (SocketChannel one : waiting) {
          one.connect(address);
        }
        while (server.failedAccepts() < 2) {
          assertThat(System.nanoTime() - begin).as("waiting").isLessThan(TIMEOUT_NS);
          LockSupport.parkNanos(1_000_000);
        }
        failures = server.failedAccepts();
      }
      long passedNs = System.nanoTime() - begin;
      assertThat(failures).isBetween(2, 1 + (int) (passedNs / TcpServerChannel.ACCEPT_PAUSE_NS));
      connect(server.endpoint()).close();
      assertThat(server.failedAccepts()).isZero();
    } finally {
      for (SocketChannel one : waiting) {
        one.close();
      }
      transport.close();
    }
  }
}
