package io.takofs.client.internal.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.MemoryRegion;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RemoteZoneTest {
  private static final int SIZE = 65536;

  private ServedArena arena;
  private RemoteZone zone;

  @BeforeEach
  void connect() throws IOException {
    arena = new ServedArena(SIZE);
    zone = arena.connect();
  }

  @AfterEach
  void close() {
    zone.close();
    arena.close();
  }

  @Test
  void shouldTransferInSpiteOfAnInterruptAndKeepIt() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    MemoryRegion local = arena.memory().staging().tryTake(8);
    local.buffer().putLong(0, 77);
    Thread.currentThread().interrupt();
    Transfer transfer = zone.write(deadline, new RemoteZone.Piece(local, 0, 8, 0, 4096, 0));
    assertThat(transfer.await(deadline)).isTrue();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(arena.bytes().getLong(4096)).isEqualTo(77);
  }
}
