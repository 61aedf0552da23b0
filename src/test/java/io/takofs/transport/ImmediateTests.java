package io.takofs.transport;

import static io.takofs.transport.TransportHarness.assertBytes;
import static io.takofs.transport.TransportHarness.fill;
import static io.takofs.transport.TransportHarness.ids;
import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Writes with immediate, and the receives they consume. */
interface ImmediateTests extends HarnessedTests {
  @Test
  default void shouldDeliverTheImmediateAfterTheBytes() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 3;
    Pair pair = h.connect();
    MemoryRegion source = h.client.region(300_000, Access.LOCAL);
    MemoryRegion target = h.server.region(300_000, Access.REMOTE_READ_WRITE);
    byte[] sent = fill(source, 8);
    int[] lengths = {0, 100, 300_000};
    for (int i = 0; i < lengths.length; i++) {
      int immediate = i == 1 ? -1 : 0x8000_0001 + i;
      pair.client()
          .writeWithImmediate(
              50 + i,
              piece(source, 0, lengths[i]),
              target.address(),
              target.rkey(),
              immediate,
              QueuePair.SIGNALED);
      pair.client().ring();
      Completion received = h.awaitSuccess(h.server);
      assertThat(received.queuePair()).isSameAs(pair.server());
      assertThat(received.opcode()).isEqualTo(Opcode.RECEIVE_IMMEDIATE);
      assertThat(received.workRequestId()).isEqualTo(i);
      assertThat(received.immediate()).isEqualTo(immediate);
      assertThat(received.byteCount()).isEqualTo(lengths[i]);
      assertBytes(target, 0, Arrays.copyOf(sent, lengths[i]));
      Completion done = h.awaitSuccess(h.client);
      assertThat(done.opcode()).isEqualTo(Opcode.WRITE_WITH_IMMEDIATE);
      assertThat(done.workRequestId()).isEqualTo(50 + i);
      assertThat(done.immediate()).isZero();
    }
  }

  @Test
  default void shouldNotAskForAKeyWhereThereAreNoBytes() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 1;
    Pair pair = h.connect();
    pair.client().writeWithImmediate(1, new ScatterGather(), 0, 0, 77, QueuePair.SIGNALED);
    pair.client().ring();
    assertThat(h.awaitSuccess(h.server).immediate()).isEqualTo(77);
    h.awaitSuccess(h.client);
  }

  @Test
  default void shouldConsumeReceivesInOrderAndOnlyForImmediates() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 10;
    Pair pair = h.connect();
    MemoryRegion source = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_READ_WRITE);
    QueuePair queuePair = pair.client();
    for (int i = 0; i < 10; i++) {
      queuePair.write(i, piece(source, 0, 8), target.address(), target.rkey(), 0);
      queuePair.writeWithImmediate(
          i, piece(source, 0, i), target.address(), target.rkey(), 1000 + i, 0);
    }
    queuePair.ring();
    List<Completion> received = h.await(h.server, 10);
    assertThat(ids(received)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    for (int i = 0; i < 10; i++) {
      assertThat(received.get(i).immediate()).isEqualTo(1000 + i);
      assertThat(received.get(i).byteCount()).isEqualTo(i);
    }
  }

  @Test
  default void shouldTakeReceivesPostedAgainAsCredits() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 4;
    Pair pair = h.connect();
    for (int i = 0; i < 400; i += 4) {
      for (int k = 0; k < 4; k++) {
        int flags = k == 3 ? QueuePair.SIGNALED : 0;
        pair.client().writeWithImmediate(k, new ScatterGather(), 0, 0, i + k, flags);
      }
      pair.client().ring();
      List<Completion> received = h.await(h.server, 4);
      for (int k = 0; k < 4; k++) {
        assertThat(received.get(k).immediate()).isEqualTo(i + k);
        pair.server().postReceive(i + k);
      }
      h.awaitSuccess(h.client);
    }
  }

  @Test
  default void shouldFailWhenNoReceiveIsPosted() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 2;
    Pair pair = h.connect();
    for (int i = 0; i < 5; i++) {
      pair.client().writeWithImmediate(i, new ScatterGather(), 0, 0, i, QueuePair.SIGNALED);
    }
    pair.client().ring();
    List<Completion> completions = h.await(h.client, 5);
    assertThat(ids(completions)).containsExactly(0L, 1L, 2L, 3L, 4L);
    assertThat(TransportHarness.statuses(completions))
        .containsExactly(
            CompletionStatus.SUCCESS,
            CompletionStatus.SUCCESS,
            CompletionStatus.RECEIVER_NOT_READY,
            CompletionStatus.FLUSHED,
            CompletionStatus.FLUSHED);
    assertThat(pair.client().state()).isEqualTo(QueuePair.State.ERROR);
    assertThat(ids(h.await(h.server, 2))).containsExactly(0L, 1L);
  }

  @Test
  default void shouldPlayPingPong() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 1;
    Pair pair = h.connect();
    MemoryRegion clientMemory = h.client.region(256, Access.REMOTE_READ_WRITE);
    MemoryRegion serverMemory = h.server.region(256, Access.REMOTE_READ_WRITE);
    pair.client().postReceive(0);
    for (int i = 0; i < 500; i++) {
      clientMemory.buffer().putInt(0, i);
      pair.client()
          .writeWithImmediate(
              i, piece(clientMemory, 0, 4), serverMemory.address(), serverMemory.rkey(), i, 0);
      pair.client().ring();
      assertThat(h.awaitSuccess(h.server).immediate()).isEqualTo(i);
      pair.server().postReceive(i + 1);
      serverMemory.buffer().putInt(4, serverMemory.buffer().getInt(0) + 1);
      pair.server()
          .writeWithImmediate(
              i,
              piece(serverMemory, 4, 4),
              clientMemory.address() + 8,
              clientMemory.rkey(),
              -i,
              i % 16 == 15 ? QueuePair.SIGNALED : 0);
      pair.server().ring();
      Completion reply = h.awaitSuccess(h.client);
      assertThat(reply.opcode()).isEqualTo(Opcode.RECEIVE_IMMEDIATE);
      assertThat(reply.immediate()).isEqualTo(-i);
      assertThat(clientMemory.buffer().getInt(8)).isEqualTo(i + 1);
      pair.client().postReceive(i + 1);
      if (i % 16 == 15) {
        assertThat(h.awaitSuccess(h.server).opcode()).isEqualTo(Opcode.WRITE_WITH_IMMEDIATE);
        pair.client()
            .write(
                i,
                piece(clientMemory, 0, 4),
                serverMemory.address(),
                serverMemory.rkey(),
                QueuePair.SIGNALED);
        pair.client().ring();
        h.awaitSuccess(h.client);
      }
    }
  }
}
