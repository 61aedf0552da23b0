package io.takofs.transport;

import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Polling, waiting, waking and events. */
interface CompletionQueueTests extends HarnessedTests {
  @Test
  default void shouldPollNothingFromAnEmptyQueue() throws IOException {
    TransportHarness h = harness();
    assertThat(h.client.queue.poll((pair, id, opcode, status, bytes, immediate) -> {}, 8)).isZero();
  }

  @Test
  default void shouldDeliverNoMoreThanAskedFor() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(8, Access.LOCAL);
    MemoryRegion target = h.server.region(8, Access.REMOTE_READ_WRITE);
    for (int i = 0; i < 10; i++) {
      pair.client()
          .write(i, piece(local, 0, 8), target.address(), target.rkey(), QueuePair.SIGNALED);
    }
    pair.client().ring();
    AtomicInteger taken = new AtomicInteger();
    while (taken.get() < 10) {
      int before = taken.get();
      int polled =
          h.client.queue.poll(
              (queuePair, id, opcode, status, bytes, immediate) ->
                  assertThat(id).isEqualTo(taken.getAndIncrement()),
              3);
      assertThat(polled).isBetween(0, 3);
      assertThat(taken.get() - before).isEqualTo(polled);
      h.client.queue.await(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  @Test
  default void shouldReturnFromAwaitAfterItsTimeout() throws IOException {
    TransportHarness h = harness();
    h.connect();
    long start = h.world.nanoTime();
    while (h.world.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(20)) {
      h.client.queue.await(TimeUnit.MILLISECONDS.toNanos(5)); // Hangs if it never returns.
    }
  }

  @Test
  default void shouldEndTheNextAwaitByWakeup() throws IOException {
    TransportHarness h = harness();
    long start = h.world.nanoTime();
    h.client.queue.wakeup();
    h.client.queue.await(TimeUnit.HOURS.toNanos(1));
    assertThat(h.world.nanoTime() - start).isLessThan(TimeUnit.HOURS.toNanos(1));
  }

  @Test
  default void shouldEndAwaitWhenACompletionArrives() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(8, Access.LOCAL);
    MemoryRegion target = h.server.region(8, Access.REMOTE_READ_WRITE);
    long start = h.world.nanoTime();
    for (int i = 0; i < 50; i++) {
      pair.client()
          .write(i, piece(local, 0, 8), target.address(), target.rkey(), QueuePair.SIGNALED);
      pair.client().ring();
      while (h.client.pending() == 0) {
        h.client.queue.await(TimeUnit.HOURS.toNanos(1));
        h.client.drain();
      }
      assertThat(h.client.take(1).get(0).status()).isEqualTo(CompletionStatus.SUCCESS);
    }
    assertThat(h.world.nanoTime() - start).isLessThan(TimeUnit.HOURS.toNanos(1));
  }

  @Test
  default void shouldKeepReceivesAndSendsApart() throws IOException {
    TransportHarness h = harness();
    CompletionQueue receives = h.client.transport.createCompletionQueue(64);
    QueuePairConfig config = new QueuePairConfig(h.client.domain, h.client.queue, receives, 16, 16);
    h.receivesAtAccept = 1;
    QueuePair client =
        h.client.transport.connect(
            h.listen().endpoint(), config, new byte[0], TransportHarness.TIMEOUT_NS);
    h.waitUntil("the listener accepts", () -> !h.accepted.isEmpty());
    client.postReceive(40);
    h.accepted.remove().writeWithImmediate(1, new ScatterGather(), 0, 0, 2, 0);
    client.writeWithImmediate(3, new ScatterGather(), 0, 0, 4, QueuePair.SIGNALED);
    client.ring();
    assertThat(h.awaitSuccess(h.client).workRequestId()).isEqualTo(3);
    Completion server = h.awaitSuccess(h.server);
    assertThat(server.immediate()).isEqualTo(4);
    server.queuePair().ring();
    AtomicInteger seen = new AtomicInteger();
    h.waitUntil(
        "the receive",
        () -> {
          receives.poll(
              (queuePair, id, opcode, status, bytes, immediate) -> {
                assertThat(id).isEqualTo(40);
                assertThat(immediate).isEqualTo(2);
                seen.incrementAndGet();
              },
              8);
          return seen.get() == 1;
        });
    assertThat(h.client.pending()).isZero();
  }

  /** For transports that run callbacks: a server that answers from its callback. */
  @Test
  default void shouldServeFromItsCallback() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 4;
    CompletionHandler echo =
        (queuePair, id, opcode, status, bytes, immediate) -> {
          if (opcode == Opcode.RECEIVE_IMMEDIATE && status == CompletionStatus.SUCCESS) {
            queuePair.postReceive(id);
            queuePair.writeWithImmediate(
                id, new ScatterGather(), 0, 0, immediate + 1, QueuePair.SIGNALED);
            queuePair.ring();
          }
        };
    CompletionQueue events = h.server.transport.createCompletionQueue(4096);
    boolean supported =
        events.onEvent(
            () -> {
              int taken;
              do {
                taken = events.poll(echo, 8);
              } while (taken > 0);
            });
    assertThat(supported).as("has callbacks").isEqualTo(h.world.hasCallbacks());
    assumeTrue(supported, "no thread of the transport's own: every other test awaits and polls");
    ConnectionAcceptor acceptor =
        h.new Acceptor() {
          @Override
          public Accept onConnect(String remoteName, byte[] privateData) {
            return new Accept(
                new QueuePairConfig(h.server.domain, events, events, 64, 64), new byte[0]);
          }
        };
    try (Transport.Listener listener =
        h.server.transport.listen(h.world.listenEndpoint(), acceptor)) {
      QueuePair[] clients = new QueuePair[3];
      for (int c = 0; c < clients.length; c++) {
        clients[c] =
            h.client.transport.connect(
                listener.endpoint(), h.client.config(), new byte[0], TransportHarness.TIMEOUT_NS);
      }
      for (int i = 0; i < 300; i++) {
        for (QueuePair client : clients) {
          client.postReceive(i);
          client.writeWithImmediate(
              i, new ScatterGather(), 0, 0, 2 * i, i % 8 == 0 ? QueuePair.SIGNALED : 0);
          client.ring();
        }
        int replies = 0;
        while (replies < clients.length) {
          Completion completion = h.awaitSuccess(h.client);
          if (completion.opcode() == Opcode.RECEIVE_IMMEDIATE) {
            assertThat(completion.immediate()).isEqualTo(2 * i + 1);
            replies++;
          }
        }
      }
    }
  }
}
