package io.takofs.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Memory that goes away while threads use it: no fault, no lost completion, nothing left behind.
 */
@Timeout(120)
class ShmLifetimeTest {
  private static final int ROUNDS = 40;

  @TempDir Path directory;

  private ShmSide server;
  private ShmSide client;
  private Transport.Listener listener;

  @BeforeEach
  void open() throws IOException {
    server = new ShmSide(directory.resolve("server"));
    client = new ShmSide(directory.resolve("client"));
    listener = server.transport.listen("", server);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  @Test
  void shouldNotFaultWhenThePeerClosesUnderTraffic() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      QueuePair pair = client.connect(listener.endpoint());
      server.pollUntil("the connection", () -> !server.accepted.isEmpty());
      QueuePair accepted = server.accepted.remove();
      AtomicLong posted = new AtomicLong();
      Thread reader = new Thread(() -> readMapped(pair));
      Thread writer = new Thread(() -> writeUntilError(pair, posted));
      int before = client.sends.size();
      reader.start();
      writer.start();
      client.pollUntil("some traffic", () -> posted.get() > 20);
      if (round % 2 == 0) {
        accepted.close();
      } else {
        assertThat(accepted.revoke()).isIn(true, false);
      }
      writer.join();
      reader.join();
      client.pollUntil("every completion", () -> client.sends.size() - before == posted.get());
      pair.close();
      accepted.close();
    }
  }

  /** Loads and stores in the peer's memory itself until the pair ends. */
  private static void readMapped(QueuePair pair) {
    long sum = 0;
    while (pair.state() == QueuePair.State.CONNECTED) {
      ByteBuffer mapped = pair.map(ShmSide.addressOf(pair), ShmSide.REGION, ShmSide.rkeyOf(pair));
      for (int i = 0; mapped != null && i < 4096; i += 8) {
        sum += mapped.getLong(i);
        mapped.putLong(ShmSide.REGION - 8 - i, sum);
      }
    }
  }

  private void writeUntilError(QueuePair pair, AtomicLong posted) {
    while (pair.state() == QueuePair.State.CONNECTED) {
      if (pair.sendSlotsFree() > 0) {
        client.write(pair, ShmSide.REGION);
        posted.incrementAndGet();
        pair.ring();
      }
    }
  }

  @Test
  void shouldNotFaultWhenARegionIsClosedUnderTraffic() throws Exception {
    QueuePair pair = client.connect(listener.endpoint());
    for (int round = 0; round < ROUNDS; round++) {
      MemoryRegion local = client.domain.allocate(1 << 16, Access.LOCAL);
      ScatterGather pieces = new ScatterGather().add(local, 0, 1 << 16);
      pair.write(1, pieces, ShmSide.addressOf(pair), ShmSide.rkeyOf(pair), 0);
      ByteBuffer straggler = local.buffer();
      local.close();
      local = null;
      pieces.clear();
      System.gc();
      pair.ring();
      straggler.putLong(0, 1);
    }
    client.write(pair, 8);
    pair.ring();
    client.pollUntil("the last write", () -> client.sends.size() == 1);
    assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  @Test
  void shouldLeaveNoFilesOfClosedPairs() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      QueuePair pair = client.connect(listener.endpoint());
      client.write(pair, 8);
      pair.ring();
      pair.close();
    }
    server.pollUntil("all ends", () -> server.disconnected.size() == ROUNDS);
    server.accepted.forEach(QueuePair::close);
    for (ShmSide side : new ShmSide[] {client, server}) {
      assertThat(inboxes(side == client ? "client" : "server")).isZero();
    }
  }

  private long inboxes(String side) throws IOException {
    try (Stream<Path> files = Files.walk(directory.resolve(side))) {
      return files.filter(file -> file.getFileName().toString().startsWith("inbox-")).count();
    }
  }

  @Test
  void shouldReuseTheSlotsOfClosedPairs() throws Exception {
    int many = Layout.SHM_QUEUE_PAIRS / 8;
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < many; i++) {
        QueuePair pair = client.connect(listener.endpoint());
        pair.close();
        client.queue.poll(client, 64);
        server.queue.poll(server, 64);
        while (!server.accepted.isEmpty()) {
          server.accepted.remove().close();
        }
      }
    }
    assertThat(client.connect(listener.endpoint()).state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  @Test
  void shouldRemoveItsDirectory() throws IOException {
    client.close();
    try (Stream<Path> left = Files.list(directory.resolve("client"))) {
      assertThat(left).isEmpty();
    }
  }
}
