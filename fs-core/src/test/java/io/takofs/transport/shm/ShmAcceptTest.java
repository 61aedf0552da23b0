package io.takofs.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.FileDescriptors;
import io.takofs.transport.QueuePair;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process without file descriptors to spare. */
@Timeout(60)
class ShmAcceptTest {
  private static final int WAITING = 16;

  @TempDir Path directory;

  @Test
  void shouldWaitForFileDescriptorsWithoutSpinning() throws IOException {
    List<SocketChannel> waiting = new ArrayList<>();
    try (ShmSide server = new ShmSide(directory.resolve("server"));
        ShmSide client = new ShmSide(directory.resolve("client"))) {
      // The earlier connection may end late, and give back descriptors.
      for (int i = 0; i < WAITING; i++) {
        waiting.add(SocketChannel.open(StandardProtocolFamily.UNIX));
      }
      ShmListener listener = (ShmListener) server.transport.listen("", server);
      client.connect(listener.endpoint()).close(); // loads all classes
      long begin = System.nanoTime();
      int failures;
      try (FileDescriptors none = FileDescriptors.exhaust()) {
        assertThat(none).isNotNull();
        for (SocketChannel one : waiting) {
          one.connect(UnixDomainSocketAddress.of(listener.endpoint()));
        }
        client.pollUntil("two attempts", () -> listener.failures() >= 2);
        failures = listener.failures();
      }
      long passedNs = System.nanoTime() - begin;
      assertThat(failures).isBetween(2, 1 + (int) (passedNs / ShmListener.ACCEPT_PAUSE_NS));
      QueuePair pair = client.connect(listener.endpoint());
      assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
      assertThat(listener.failures()).isZero();
      pair.close();
    } finally {
      for (SocketChannel one : waiting) {
        one.close();
      }
    }
  }
}
