package io.takofs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Revocation by the target of writes: whatever {@link QueuePair#revoke} returned, a copy that is
 * made after it has every byte of every write that the peer ever counts as successful.
 */
interface RevocationTests extends HarnessedTests {
  int ROUNDS = 60;

  /** Waits between two steps of the writer, at most; the simulation has every length. */
  int STEP_MAX_NS = 20_000;

  @Test
  default void shouldCountNothingThatARevokingThreadDoesNotSee() throws Exception {
    TransportHarness h = harness();
    Assumptions.assumeTrue(h.world.hasThreads(), "one thread has both sides");
    Random random = new Random(3);
    int blockBytes = 1 << 14;
    for (int round = 0; round < ROUNDS; round++) {
      Revoked revoked = new Revoked(h, blockBytes);
      FutureTask<Void> writing =
          new FutureTask<>(() -> awaitEnd(h, revoked.writer, Thread::onSpinWait), null);
      new Thread(writing, "writer").start();
      long batches = (1 + random.nextInt(3)) * (long) RevocationWriter.BLOCKS;
      spinUntil(() -> revoked.writer.posted() > batches || writing.isDone());
      long delayNs = random.nextInt(200_000);
      long start = System.nanoTime();
      spinUntil(() -> System.nanoTime() - start >= delayNs);
      revoked.revokeAndCopy();
      writing.get(TransportHarness.TIMEOUT_NS, TimeUnit.NANOSECONDS);
      revoked.check();
    }
  }

  @Test
  default void shouldCountNothingOfWhatIsUnderWayWhenItIsRevoked() throws IOException {
    TransportHarness h = harness();
    Random random = new Random(5);
    for (int round = 0; round < ROUNDS; round++) {
      Revoked revoked = new Revoked(h, 64 << random.nextInt(6));
      for (int step = random.nextInt(12); step >= 0; step--) {
        revoked.writer.step();
        h.client.queue.await(random.nextInt(STEP_MAX_NS));
      }
      revoked.revokeAndCopy();
      awaitEnd(h, revoked.writer, () -> h.client.queue.await(random.nextInt(STEP_MAX_NS)));
      revoked.check();
    }
  }

  private static void spinUntil(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static void awaitEnd(TransportHarness h, RevocationWriter writer, Runnable pause) {
    long start = h.world.nanoTime();
    while (!writer.isOver()) {
      if (h.world.nanoTime() - start > TransportHarness.TIMEOUT_NS) {
        throw new AssertionError("the end did not come: " + writer);
      }
      writer.step();
      pause.run();
    }
  }

  /** A pair whose client writes and whose server revokes. */
  final class Revoked {
    private final TransportHarness h;
    private final Pair pair;
    private final MemoryRegion target;
    private final ByteBuffer copy;
    final RevocationWriter writer;
    private boolean ended;

    Revoked(TransportHarness harness, int blockBytes) throws IOException {
      h = harness;
      h.receivesAtAccept = RevocationWriter.IMMEDIATES_MAX;
      pair = h.connect();
      target = h.server.region(RevocationWriter.BLOCKS * blockBytes, Access.REMOTE_READ_WRITE);
      copy = ByteBuffer.allocate(target.length());
      writer = new RevocationWriter(h.client, pair.client(), target);
    }

    /** Copies from the end, where the writer comes last. */
    void revokeAndCopy() {
      ended = pair.server().revoke();
      int part = target.length() / RevocationWriter.BLOCKS;
      for (int at = target.length() - part; at >= 0; at -= part) {
        copy.put(at, target.buffer(), at, part);
      }
    }

    /** When the writer knows the end of all its writes. */
    void check() {
      int missing = writer.firstMissing(copy);
      assertThat(missing).as("first missing byte; revoked: %s, %s", ended, writer).isEqualTo(-1);
      pair.client().close();
      h.waitUntil("the pair is revoked", () -> pair.server().revoke());
      if (ended) {
        int changed = target.buffer().duplicate().clear().mismatch(copy.clear());
        assertThat(changed).as("first byte that changed after the end").isEqualTo(-1);
      }
      pair.server().close();
      h.waitUntil("the receives", () -> h.server.pending() >= RevocationWriter.IMMEDIATES_MAX);
      h.server.take(h.server.pending());
      h.client.take(h.client.pending());
      target.close();
      writer.close();
    }
  }
}
