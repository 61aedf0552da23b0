package io.takofs.transport;

import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Counters say what was done. */
interface CounterTests extends HarnessedTests {
  @Test
  default void shouldCountOperationsBytesAndCompletions() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 3;
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(4096, Access.LOCAL);
    MemoryRegion remote = h.server.region(4096, Access.REMOTE_READ_WRITE);
    QueuePair queuePair = pair.client();
    queuePair.write(1, piece(local, 0, 1000), remote.address(), remote.rkey(), 0);
    queuePair.write(
        2, piece(local, 0, 24).add(local, 100, 100), remote.address(), remote.rkey(), 0);
    queuePair.ring();
    queuePair.read(3, piece(local, 0, 300), remote.address(), remote.rkey(), QueuePair.SIGNALED);
    queuePair.writeWithImmediate(4, new ScatterGather(), 0, 0, 7, QueuePair.SIGNALED);
    queuePair.ring();
    queuePair.ring(); // nothing
    h.await(h.client, 2);
    h.await(h.server, 1);

    assertThat(counts(h.client)).isEqualTo(counts(4, 1424, 0, 2, 0));
    assertThat(counts(h.server)).isEqualTo(counts(0, 0, 3, 1, 0));
  }

  @Test
  default void shouldCountFailuresByTheirStatus() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 2;
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(64, Access.LOCAL);
    MemoryRegion readOnly = h.server.region(64, Access.REMOTE_READ);
    for (int i = 0; i < 4; i++) {
      pair.client()
          .write(i, piece(local, 0, 8), readOnly.address(), readOnly.rkey(), QueuePair.SIGNALED);
    }
    pair.client().ring();
    h.await(h.client, 4);
    h.await(h.server, 2);

    assertThat(h.client.transport.counters().completions(CompletionStatus.REMOTE_ACCESS_ERROR))
        .isEqualTo(1);
    assertThat(counts(h.client)).isEqualTo(counts(4, 32, 0, 0, 3));
    assertThat(counts(h.server)).isEqualTo(counts(0, 0, 2, 0, 2));
  }

  @Test
  default void shouldCountWhatIsOpen() throws IOException {
    TransportHarness h = harness();
    TransportCounters client = h.client.transport.counters();
    TransportCounters server = h.server.transport.counters();
    Pair first = h.connect();
    Pair second = h.connect();
    assertThat(client.get(Counter.CONNECTS)).isEqualTo(2);
    h.waitUntil("the server counts them", () -> server.get(Counter.CONNECTS) == 2);
    assertThat(client.get(Counter.QUEUE_PAIRS)).isEqualTo(2);
    assertThat(server.get(Counter.QUEUE_PAIRS)).isEqualTo(2);
    first.client().close();
    first.client().close();
    first.server().close();
    assertThat(client.get(Counter.QUEUE_PAIRS)).isEqualTo(1);
    assertThat(server.get(Counter.QUEUE_PAIRS)).isEqualTo(1);
    second.client().revoke();
    assertThat(client.get(Counter.QUEUE_PAIRS)).as("still to be closed").isEqualTo(1);
    second.client().close();
    assertThat(client.get(Counter.QUEUE_PAIRS)).isZero();
    assertThat(client.get(Counter.CONNECTS)).isEqualTo(2);

    MemoryRegion one = h.client.region(100, Access.LOCAL);
    MemoryRegion two = h.client.region(100, Access.REMOTE_READ);
    assertThat(client.get(Counter.REGIONS)).isEqualTo(2);
    one.close();
    one.close();
    assertThat(client.get(Counter.REGIONS)).isEqualTo(1);
    two.close();
    assertThat(client.get(Counter.REGIONS)).isZero();
  }

  @Test
  default void shouldCountWindowsThatAreOpen() throws IOException {
    TransportHarness h = harness();
    TransportCounters counters = h.server.transport.counters();
    assumeTrue(h.server.transport.hasMemoryWindows(), "it has no memory windows");
    MemoryWindow one = h.server.domain.allocateWindow();
    MemoryWindow two = h.server.domain.allocateWindow();
    assertThat(counters.get(Counter.WINDOWS)).isEqualTo(2);
    one.close();
    one.close();
    assertThat(counters.get(Counter.WINDOWS)).isEqualTo(1);
    two.close();
    assertThat(counters.get(Counter.WINDOWS)).isZero();
  }

  @Test
  default void shouldNotCountConnectionsThatAreRefused() throws IOException {
    TransportHarness h = harness();
    Transport.Listener listener =
        h.world
            .server()
            .listen(
                h.world.listenEndpoint(),
                h.new Acceptor() {
                  @Override
                  public Accept onConnect(String remoteName, byte[] privateData)
                      throws IOException {
                    throw new IOException("no");
                  }
                });
    QueuePairConfig config = h.client.config();
    assertThatThrownBy(
            () ->
                h.world
                    .client()
                    .connect(
                        listener.endpoint(),
                        config,
                        TransportHarness.NO_DATA,
                        TransportHarness.TIMEOUT_NS))
        .isInstanceOf(IOException.class);
    for (TransportSide side : new TransportSide[] {h.client, h.server}) {
      assertThat(side.transport.counters().get(Counter.CONNECTS)).isZero();
      assertThat(side.transport.counters().get(Counter.QUEUE_PAIRS)).isZero();
    }
    listener.close();
  }

  @Test
  default void shouldNameAllCounters() throws IOException {
    TransportHarness h = harness();
    h.client.transport.counters().add(Counter.RECONNECTS, 3);
    assertThat(h.client.transport.counters().snapshot())
        .containsEntry("reconnects", 3L)
        .containsEntry("sends", 0L)
        .containsEntry("windows", 0L)
        .containsEntry("completions.success", 0L)
        .containsEntry("completions.receiver_not_ready", 0L);
  }

  private static Map<String, Long> counts(TransportSide side) {
    TransportCounters counters = side.transport.counters();
    return counts(
        counters.get(Counter.SENDS),
        counters.get(Counter.BYTES),
        counters.get(Counter.RECEIVES),
        counters.completions(CompletionStatus.SUCCESS),
        counters.completions(CompletionStatus.FLUSHED));
  }

  private static Map<String, Long> counts(
      long sends, long bytes, long receives, long succeeded, long flushed) {
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("sends", sends);
    counts.put("bytes", bytes);
    counts.put("receives", receives);
    counts.put("succeeded", succeeded);
    counts.put("flushed", flushed);
    return counts;
  }
}
