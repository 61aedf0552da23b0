package io.takofs.transport;

import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Compare-and-swap and fetch-and-add. */
interface AtomicOperationTests extends HarnessedTests {
  @Test
  default void shouldSwapOnlyWhenEqual() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion old = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_ATOMIC);
    target.buffer().putLong(16, 0x0123_4567_89ab_cdefL);
    QueuePair queuePair = pair.client();

    queuePair.compareAndSwap(
        1, piece(old, 8, 8), target.address() + 16, target.rkey(), 5, 6, QueuePair.SIGNALED);
    queuePair.ring();
    assertThat(h.awaitSuccess(h.client).opcode()).isEqualTo(Opcode.COMPARE_AND_SWAP);
    assertThat(old.buffer().getLong(8)).isEqualTo(0x0123_4567_89ab_cdefL);
    assertThat(target.buffer().getLong(16)).isEqualTo(0x0123_4567_89ab_cdefL);

    queuePair.compareAndSwap(
        2,
        piece(old, 8, 8),
        target.address() + 16,
        target.rkey(),
        0x0123_4567_89ab_cdefL,
        Long.MIN_VALUE,
        QueuePair.SIGNALED);
    queuePair.ring();
    h.awaitSuccess(h.client);
    assertThat(old.buffer().getLong(8)).isEqualTo(0x0123_4567_89ab_cdefL);
    assertThat(target.buffer().getLong(16)).isEqualTo(Long.MIN_VALUE);
    assertThat(target.buffer().getLong(8)).isZero();
    assertThat(target.buffer().getLong(24)).isZero();
  }

  @Test
  default void shouldAddAndReturnTheOldValue() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion old = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_ATOMIC);
    target.buffer().putLong(0, Long.MAX_VALUE);
    QueuePair queuePair = pair.client();
    queuePair.fetchAndAdd(1, piece(old, 0, 8), target.address(), target.rkey(), 3, 0);
    queuePair.fetchAndAdd(
        2, piece(old, 8, 8), target.address(), target.rkey(), -2, QueuePair.SIGNALED);
    queuePair.ring();
    assertThat(h.awaitSuccess(h.client).opcode()).isEqualTo(Opcode.FETCH_AND_ADD);
    assertThat(old.buffer().getLong(0)).isEqualTo(Long.MAX_VALUE);
    assertThat(old.buffer().getLong(8)).isEqualTo(Long.MIN_VALUE + 2);
    assertThat(target.buffer().getLong(0)).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  default void shouldLoseNoAdditionOfTwoPairs() throws IOException {
    TransportHarness h = harness();
    Pair first = h.connect();
    Pair second = h.connect();
    MemoryRegion old = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_ATOMIC);
    int rounds = 100;
    int batch = 16;
    for (int round = 0; round < rounds; round++) {
      for (int at = 0; at <= 8; at += 8) {
        Pair pair = at == 0 ? first : second;
        for (int i = 0; i < batch; i++) {
          int flags = i == batch - 1 ? QueuePair.SIGNALED : 0;
          pair.client()
              .fetchAndAdd(i, piece(old, at, 8), target.address() + 8, target.rkey(), 1, flags);
        }
        pair.client().ring();
      }
      h.awaitSuccess(h.client);
      h.awaitSuccess(h.client);
    }
    assertThat(target.buffer().getLong(8)).isEqualTo(2L * rounds * batch);
  }
}
