package io.takofs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Vocabulary of the suite's tests: two sides, pairs between them, bounded waiting. */
final class TransportHarness implements AutoCloseable {
  static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
  static final byte[] NO_DATA = new byte[0];

  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(1);

  final TransportWorld world;
  final TransportSide client;
  final TransportSide server;
  final Queue<QueuePair> accepted = new ConcurrentLinkedQueue<>();
  final Queue<QueuePair> disconnected = new ConcurrentLinkedQueue<>();

  /** Receives that the accepting side posts before its peer learns that it is connected. */
  volatile int receivesAtAccept;

  private Transport.Listener listener;

  TransportHarness(TransportWorld world) {
    this.world = world;
    this.client = new TransportSide(world.client());
    this.server = new TransportSide(world.server());
  }

  /** Both ends of one connection. */
  record Pair(QueuePair client, QueuePair server) {}

  /** Connects a pair; the listener is started at the first call. */
  Pair connect() throws IOException {
    QueuePair queuePair =
        world.client().connect(listen().endpoint(), client.config(), NO_DATA, TIMEOUT_NS);
    waitUntil("the listener accepts", () -> !accepted.isEmpty());
    return new Pair(queuePair, accepted.remove());
  }

  /** The listener that accepts everything. */
  Transport.Listener listen() throws IOException {
    if (listener == null) {
      listener = world.server().listen(world.listenEndpoint(), new Acceptor());
    }
    return listener;
  }

  /** Accepts everything, with the server side's objects. */
  class Acceptor implements ConnectionAcceptor {
    @Override
    public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
      return new Accept(server.config(), NO_DATA);
    }

    @Override
    public void onConnected(QueuePair queuePair, Accept accept) {
      for (int i = 0; i < receivesAtAccept; i++) {
        queuePair.postReceive(i);
      }
      accepted.add(queuePair);
    }

    @Override
    public void onDisconnected(QueuePair queuePair) {
      disconnected.add(queuePair);
    }
  }

  /** Waits for {@code count} completions of {@code side} and takes them. */
  List<Completion> await(TransportSide side, int count) {
    waitUntil(
        () -> count + " completions, got " + side.take(side.pending()),
        () -> side.pending() >= count);
    return side.take(count);
  }

  /** Waits for one completion, which must be a success. */
  Completion awaitSuccess(TransportSide side) {
    Completion completion = await(side, 1).get(0);
    assertThat(completion.status())
        .as("%s, pair says: %s", completion, completion.queuePair().errorText())
        .isEqualTo(CompletionStatus.SUCCESS);
    return completion;
  }

  void waitUntil(String what, BooleanSupplier condition) {
    waitUntil(() -> what, condition);
  }

  /** Lets both sides make progress, in whatever time the world has, until {@code condition}. */
  private void waitUntil(java.util.function.Supplier<String> what, BooleanSupplier condition) {
    long start = world.nanoTime();
    drainBoth();
    while (!condition.getAsBoolean()) {
      if (world.nanoTime() - start > TIMEOUT_NS) {
        throw new AssertionError("waited in vain for " + what.get());
      }
      client.queue.await(STEP_NS);
      drainBoth();
    }
  }

  /** Lets {@code durationNs} pass. */
  void pass(long durationNs) {
    long start = world.nanoTime();
    while (world.nanoTime() - start < durationNs) {
      client.queue.await(STEP_NS);
    }
    drainBoth();
  }

  private void drainBoth() {
    client.drain();
    server.drain();
  }

  /** A one-piece local side. */
  static ScatterGather piece(MemoryRegion region, int offset, int length) {
    return new ScatterGather().add(region, offset, length);
  }

  /** Fills the region with bytes of {@code seed} and returns them. */
  static byte[] fill(MemoryRegion region, long seed) {
    byte[] bytes = new byte[region.length()];
    new Random(seed).nextBytes(bytes);
    region.buffer().put(0, bytes);
    return bytes;
  }

  /** Compares the bytes of a region from {@code offset}. */
  static void assertBytes(MemoryRegion region, int offset, byte[] expected) {
    byte[] actual = new byte[expected.length];
    region.buffer().get(offset, actual);
    assertThat(Arrays.mismatch(actual, expected))
        .as("first of %s bytes from %s that differs", expected.length, offset)
        .isEqualTo(-1);
  }

  static List<Long> ids(List<Completion> completions) {
    List<Long> ids = new ArrayList<>();
    for (Completion completion : completions) {
      ids.add(completion.workRequestId());
    }
    return ids;
  }

  static List<CompletionStatus> statuses(List<Completion> completions) {
    List<CompletionStatus> statuses = new ArrayList<>();
    for (Completion completion : completions) {
      statuses.add(completion.status());
    }
    return statuses;
  }

  @Override
  public void close() {
    if (listener != null) {
      listener.close();
    }
    world.close();
  }
}
