package io.takofs.transport;

import static io.takofs.transport.TransportHarness.assertBytes;
import static io.takofs.transport.TransportHarness.fill;
import static io.takofs.transport.TransportHarness.ids;
import static io.takofs.transport.TransportHarness.piece;
import static io.takofs.transport.TransportHarness.statuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The end of pairs: every outstanding post completes once, and nothing lands afterwards. */
interface FailureTests extends HarnessedTests {
  long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(30);

  @Test
  default void shouldFlushWhatFollowsAFailure() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_READ_WRITE);
    QueuePair queuePair = pair.client();
    queuePair.postReceive(100);
    queuePair.postReceive(101);
    queuePair.write(1, piece(local, 0, 8), target.address(), target.rkey(), QueuePair.SIGNALED);
    queuePair.read(2, piece(local, 0, 8), target.address(), target.rkey(), QueuePair.SIGNALED);
    queuePair.write(3, piece(local, 0, 8), target.address() + 60, target.rkey(), 0);
    queuePair.write(4, piece(local, 0, 8), target.address(), target.rkey(), QueuePair.SIGNALED);
    queuePair.read(5, piece(local, 0, 8), target.address(), target.rkey(), 0);
    queuePair.ring();

    List<Completion> sends = new ArrayList<>();
    List<Completion> receives = new ArrayList<>();
    for (Completion completion : h.await(h.client, 7)) {
      (completion.workRequestId() < 100 ? sends : receives).add(completion);
    }
    assertThat(ids(sends)).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(statuses(sends))
        .containsExactly(
            CompletionStatus.SUCCESS,
            CompletionStatus.SUCCESS,
            CompletionStatus.REMOTE_ACCESS_ERROR,
            CompletionStatus.FLUSHED,
            CompletionStatus.FLUSHED);
    assertThat(ids(receives)).containsExactly(100L, 101L);
    assertThat(statuses(receives))
        .containsExactly(CompletionStatus.FLUSHED, CompletionStatus.FLUSHED);
    assertThat(queuePair.state()).isEqualTo(QueuePair.State.ERROR);
    h.waitUntil("the acceptor is told", () -> h.disconnected.contains(pair.server()));
    assertThat(pair.server().state()).isEqualTo(QueuePair.State.ERROR);
    h.pass(QUIET_NS);
    assertThat(h.client.pending()).isZero();
    assertThat(h.disconnected).hasSize(1);
  }

  @Test
  default void shouldFlushPostsInErrorState() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(64, Access.LOCAL);
    QueuePair queuePair = pair.client();
    queuePair.write(1, piece(local, 0, 8), 0, 0, 0);
    queuePair.ring();
    h.await(h.client, 1);
    queuePair.write(2, piece(local, 0, 8), 0, 0, 0);
    queuePair.read(3, piece(local, 0, 8), 0, 0, QueuePair.SIGNALED);
    queuePair.writeWithImmediate(4, piece(local, 0, 8), 0, 0, 9, 0);
    queuePair.ring();
    queuePair.postReceive(5);
    List<Completion> completions = h.await(h.client, 4);
    assertThat(ids(completions)).containsExactly(2L, 3L, 4L, 5L);
    assertThat(statuses(completions)).containsOnly(CompletionStatus.FLUSHED);
    assertThat(queuePair.map(0, 8, 0)).isNull();
  }

  @Test
  default void shouldFlushWhenThePeerCloses() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 8;
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(1 << 20, Access.LOCAL);
    MemoryRegion target = h.server.region(1 << 20, Access.REMOTE_READ_WRITE);
    pair.client().postReceive(1000);
    for (int i = 0; i < TransportSide.MAX_SENDS; i++) {
      pair.client()
          .write(i, piece(local, 0, 1 << 20), target.address(), target.rkey(), QueuePair.SIGNALED);
    }
    pair.client().ring();
    pair.server().close();
    assertThat(pair.server().state()).isEqualTo(QueuePair.State.CLOSED);

    List<Completion> completions = h.await(h.client, TransportSide.MAX_SENDS + 1);
    List<Long> sends = new ArrayList<>();
    boolean flushed = false;
    for (Completion completion : completions) {
      if (completion.workRequestId() == 1000) {
        assertThat(completion.status()).isEqualTo(CompletionStatus.FLUSHED);
        continue;
      }
      assertThat(completion.workRequestId()).isEqualTo(sends.size());
      sends.add(completion.workRequestId());
      flushed |= completion.status() == CompletionStatus.FLUSHED;
      assertThat(completion.status())
          .isEqualTo(flushed ? CompletionStatus.FLUSHED : CompletionStatus.SUCCESS);
    }
    assertThat(sends).hasSize(TransportSide.MAX_SENDS);
    assertThat(pair.client().state()).isEqualTo(QueuePair.State.ERROR);
    assertThat(pair.client().errorText()).contains(pair.client().remoteName());
    List<Completion> receives = h.await(h.server, 8);
    assertThat(statuses(receives)).containsOnly(CompletionStatus.FLUSHED);
    assertThat(ids(receives)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    h.pass(QUIET_NS);
    assertThat(h.client.pending()).isZero();
    assertThat(h.server.pending()).isZero();
    assertThat(h.disconnected).isEmpty();
  }

  @Test
  default void shouldTellTheAcceptorWhenTheConnectorCloses() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 2;
    Pair pair = h.connect();
    Pair other = h.connect();
    pair.client().postReceive(7);
    pair.client().close();
    assertThat(pair.client().state()).isEqualTo(QueuePair.State.CLOSED);
    Completion own = h.await(h.client, 1).get(0);
    assertThat(own.workRequestId()).isEqualTo(7);
    assertThat(own.status()).isEqualTo(CompletionStatus.FLUSHED);
    h.waitUntil("the acceptor is told", () -> h.disconnected.contains(pair.server()));
    assertThat(statuses(h.await(h.server, 2))).containsOnly(CompletionStatus.FLUSHED);
    assertThat(pair.server().state()).isEqualTo(QueuePair.State.ERROR);
    assertThat(pair.server().errorText()).isNotEmpty();
    pair.server().close();
    pair.client().close();
    h.pass(QUIET_NS);
    assertThat(h.disconnected).hasSize(1);
    assertThat(other.client().state()).isEqualTo(QueuePair.State.CONNECTED);
    assertThat(other.server().state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  @Test
  default void shouldFlushOwnPostsAtClose() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(1 << 20, Access.LOCAL);
    MemoryRegion target = h.server.region(1 << 20, Access.REMOTE_READ);
    for (int i = 0; i < 32; i++) {
      pair.client().read(i, piece(local, 0, 1 << 20), target.address(), target.rkey(), 0);
    }
    pair.client().ring();
    pair.client().close();
    // Unsignalled successes are silent; what fails is reported, and nothing lands any more.
    byte[] marked = fill(local, 12);
    h.pass(QUIET_NS);
    List<Completion> completions = h.await(h.client, h.client.pending());
    assertThat(completions.size()).isLessThanOrEqualTo(32);
    assertThat(statuses(completions)).doesNotContain(CompletionStatus.SUCCESS);
    long next = 32L - completions.size();
    for (Completion completion : completions) {
      assertThat(completion.workRequestId()).isEqualTo(next++);
    }
    assertBytes(local, 0, marked);
  }

  @Test
  default void shouldLandNothingAfterRevocation() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    Pair other = h.connect();
    MemoryRegion local = h.client.region(1 << 20, Access.LOCAL);
    MemoryRegion target = h.server.region(1 << 20, Access.REMOTE_READ_WRITE);
    fill(local, 1);
    for (int i = 0; i < 16; i++) {
      pair.client().write(i, piece(local, 0, 1 << 20), target.address(), target.rkey(), 0);
    }
    pair.client().ring();
    if (!pair.server().revoke()) {
      pair.client().close(); // A peer that shares the memory has to release it.
      h.waitUntil("the pair is revoked", () -> pair.server().revoke());
    }
    byte[] marked = fill(target, 2);
    if (pair.client().state() != QueuePair.State.CLOSED) {
      pair.client().write(16, piece(local, 0, 1 << 20), target.address(), target.rkey(), 0);
      pair.client().ring();
    }
    h.pass(QUIET_NS);
    assertBytes(target, 0, marked);
    assertThat(pair.server().state()).isNotEqualTo(QueuePair.State.CONNECTED);
    assertThat(pair.server().revoke()).isTrue();
    pair.server().close();

    byte[] sent = Arrays.copyOf(fill(local, 3), 4096);
    other
        .client()
        .write(99, piece(local, 0, 4096), target.address(), target.rkey(), QueuePair.SIGNALED);
    other.client().ring();
    Completion last;
    do {
      last = h.await(h.client, 1).get(0);
    } while (last.queuePair() != other.client());
    assertThat(last.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertBytes(target, 0, sent);
  }

  @Test
  default void shouldEndAllPairsWithTheirTransport() throws IOException {
    TransportHarness h = harness();
    List<Pair> pairs = List.of(h.connect(), h.connect(), h.connect());
    for (Pair pair : pairs) {
      pair.client().postReceive(pair.client().number());
    }
    h.world.server().close();
    List<Completion> completions = h.await(h.client, 3);
    assertThat(statuses(completions)).containsOnly(CompletionStatus.FLUSHED);
    for (Pair pair : pairs) {
      h.waitUntil("the pair ends", () -> pair.client().state() == QueuePair.State.ERROR);
    }
  }
}
