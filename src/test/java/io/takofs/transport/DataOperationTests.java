package io.takofs.transport;

import static io.takofs.transport.TransportHarness.assertBytes;
import static io.takofs.transport.TransportHarness.fill;
import static io.takofs.transport.TransportHarness.ids;
import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes and reads: bytes, pieces, sizes, signals, slots. */
interface DataOperationTests extends HarnessedTests {
  int MIB = 1 << 20;

  @ParameterizedTest
  @ValueSource(
      ints = {1, 7, 8, 63, 64, 65, 4095, 4096, 4097, 65536, 100_003, MIB, MIB + 1, 5 * MIB + 13})
  default void shouldPlaceWrittenBytes(int length) throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion source = h.client.region(length + 10, Access.LOCAL);
    MemoryRegion target = h.server.region(length + 20, Access.REMOTE_READ_WRITE);
    byte[] sent = fill(source, length);
    byte[] expected = fill(target, -length);
    System.arraycopy(sent, 5, expected, 9, length);

    pair.client()
        .write(
            17, piece(source, 5, length), target.address() + 9, target.rkey(), QueuePair.SIGNALED);
    pair.client().ring();

    Completion completion = h.awaitSuccess(h.client);
    assertThat(completion.queuePair()).isSameAs(pair.client());
    assertThat(completion.workRequestId()).isEqualTo(17);
    assertThat(completion.opcode()).isEqualTo(Opcode.WRITE);
    assertBytes(target, 0, expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 64, 4095, 4096, 65537, MIB, 5 * MIB + 13})
  default void shouldReadBytes(int length) throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion sink = h.client.region(length + 10, Access.LOCAL);
    MemoryRegion source = h.server.region(length + 20, Access.REMOTE_READ);
    byte[] expected = fill(sink, length);
    System.arraycopy(fill(source, -length), 9, expected, 5, length);

    pair.client()
        .read(3, piece(sink, 5, length), source.address() + 9, source.rkey(), QueuePair.SIGNALED);
    pair.client().ring();

    Completion completion = h.awaitSuccess(h.client);
    assertThat(completion.workRequestId()).isEqualTo(3);
    assertThat(completion.opcode()).isEqualTo(Opcode.READ);
    assertThat(completion.byteCount()).isEqualTo(length);
    assertBytes(sink, 0, expected);
  }

  @Test
  default void shouldServeOperationsOfTheAcceptingSide() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion theirs = h.client.region(9000, Access.REMOTE_READ_WRITE);
    MemoryRegion ours = h.server.region(9000, Access.LOCAL);
    byte[] sent = fill(ours, 1);

    pair.server().write(1, piece(ours, 0, 9000), theirs.address(), theirs.rkey(), 0);
    pair.server()
        .read(2, piece(ours, 0, 10), theirs.address() + 100, theirs.rkey(), QueuePair.SIGNALED);
    pair.server().ring();

    assertThat(h.awaitSuccess(h.server).workRequestId()).isEqualTo(2);
    assertBytes(theirs, 0, sent);
    assertBytes(ours, 0, Arrays.copyOfRange(sent, 100, 110));
  }

  @Test
  default void shouldGatherAndScatterPieces() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion first = h.client.region(70_000, Access.LOCAL);
    MemoryRegion second = h.client.region(4096, Access.LOCAL);
    MemoryRegion target = h.server.region(200_000, Access.REMOTE_READ_WRITE);
    byte[] a = fill(first, 1);
    byte[] b = fill(second, 2);
    byte[] expected = new byte[target.length()];
    ScatterGather pieces = new ScatterGather();
    int[] lengths = {1, 0, 70, 3000, 13, 64, 1, 2, 50_000, 9, 5, 6, 7, 8, 9, 10};
    int[] used = new int[2];
    int at = 0;
    for (int i = 0; i < ScatterGather.MAX; i++) {
      pieces.add(i % 2 == 0 ? first : second, used[i % 2], lengths[i]);
      System.arraycopy(i % 2 == 0 ? a : b, used[i % 2], expected, at, lengths[i]);
      used[i % 2] += lengths[i];
      at += lengths[i];
    }

    pair.client().write(1, pieces, target.address(), target.rkey(), QueuePair.SIGNALED);
    pair.client().ring();
    h.awaitSuccess(h.client);
    assertBytes(target, 0, expected);

    first.buffer().put(0, new byte[used[0]]);
    second.buffer().put(0, new byte[used[1]]);
    pair.client().read(2, pieces, target.address(), target.rkey(), QueuePair.SIGNALED);
    pair.client().ring();
    assertThat(h.awaitSuccess(h.client).byteCount()).isEqualTo(at);
    assertBytes(first, 0, a);
    assertBytes(second, 0, b);
  }

  @Test
  default void shouldCopyThePiecesWhenStaged() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion source = h.client.region(8, Access.LOCAL);
    MemoryRegion target = h.server.region(8, Access.REMOTE_READ_WRITE);
    byte[] sent = fill(source, 5);
    ScatterGather reused = new ScatterGather();
    for (int i = 0; i < 8; i++) {
      reused.clear().add(source, i, 1);
      int flags = i == 7 ? QueuePair.SIGNALED : 0;
      pair.client().write(i, reused, target.address() + i, target.rkey(), flags);
    }
    reused.clear();
    pair.client().ring();
    h.awaitSuccess(h.client);
    assertBytes(target, 0, sent);
  }

  @Test
  default void shouldCompleteOperationsWithoutBytes() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_READ_WRITE);
    ScatterGather none = new ScatterGather();
    pair.client().write(1, none, target.address(), target.rkey(), QueuePair.SIGNALED);
    pair.client()
        .write(2, piece(local, 64, 0), target.address() + 64, target.rkey(), QueuePair.SIGNALED);
    pair.client().read(3, none, target.address(), target.rkey(), QueuePair.SIGNALED);
    pair.client().ring();
    assertThat(ids(h.await(h.client, 3))).containsExactly(1L, 2L, 3L);
    assertThat(pair.client().state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  @Test
  default void shouldReportOnlySignalledSuccesses() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion source = h.client.region(4096, Access.LOCAL);
    MemoryRegion target = h.server.region(4096, Access.REMOTE_READ_WRITE);
    byte[] sent = fill(source, 9);
    for (int i = 0; i < 32; i++) {
      int flags = i % 8 == 7 ? QueuePair.SIGNALED : 0;
      pair.client()
          .write(i, piece(source, i * 128, 128), target.address() + i * 128L, target.rkey(), flags);
    }
    pair.client().ring();
    assertThat(ids(h.await(h.client, 4))).containsExactly(7L, 15L, 23L, 31L);
    assertBytes(target, 0, sent);
    assertThat(h.client.pending()).isZero();
  }

  @Test
  default void shouldCompleteInPostOrder() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 16;
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(2 * MIB, Access.LOCAL);
    MemoryRegion target = h.server.region(2 * MIB, Access.REMOTE_ATOMIC);
    QueuePair queuePair = pair.client();
    for (int i = 0; i < 10; i++) {
      long id = i * 5L;
      long address = target.address();
      int rkey = target.rkey();
      queuePair.write(id, piece(local, 0, MIB), address, rkey, QueuePair.SIGNALED);
      queuePair.read(id + 1, piece(local, MIB, 300_000), address, rkey, QueuePair.SIGNALED);
      queuePair.fetchAndAdd(id + 2, piece(local, 8, 8), address + MIB, rkey, 1, QueuePair.SIGNALED);
      queuePair.writeWithImmediate(
          id + 3, piece(local, 0, 10), address, rkey, i, QueuePair.SIGNALED);
      queuePair.compareAndSwap(
          id + 4, piece(local, 16, 8), address + MIB, rkey, -1, -2, QueuePair.SIGNALED);
      queuePair.ring();
    }
    for (long i = 0; i < 50; i++) {
      Completion completion = h.awaitSuccess(h.client);
      assertThat(completion.workRequestId()).isEqualTo(i);
      assertThat(completion.opcode())
          .isEqualTo(
              new Opcode[] {
                    Opcode.WRITE,
                    Opcode.READ,
                    Opcode.FETCH_AND_ADD,
                    Opcode.WRITE_WITH_IMMEDIATE,
                    Opcode.COMPARE_AND_SWAP
                  }
                  [(int) (i % 5)]);
    }
  }

  @Test
  default void shouldReadWhatTheSamePairWroteBefore() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(2 * MIB, Access.LOCAL);
    MemoryRegion target = h.server.region(MIB, Access.REMOTE_READ_WRITE);
    byte[] sent = Arrays.copyOf(fill(local, 4), MIB);
    pair.client().write(1, piece(local, 0, MIB), target.address(), target.rkey(), 0);
    pair.client()
        .read(2, piece(local, MIB, MIB), target.address(), target.rkey(), QueuePair.SIGNALED);
    pair.client().ring();
    h.awaitSuccess(h.client);
    assertBytes(local, MIB, sent);
  }

  @Test
  default void shouldGiveSendSlotsBack() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion source = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_READ_WRITE);
    QueuePair queuePair = pair.client();
    assertThat(queuePair.sendSlotsFree()).isEqualTo(TransportSide.MAX_SENDS);
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < TransportSide.MAX_SENDS; i++) {
        assertThat(queuePair.sendSlotsFree()).isEqualTo(TransportSide.MAX_SENDS - i);
        boolean last = i == TransportSide.MAX_SENDS - 1;
        int flags = last || i % 10 == round % 10 ? QueuePair.SIGNALED : 0;
        queuePair.write(i, piece(source, i, 1), target.address() + i, target.rkey(), flags);
      }
      assertThat(queuePair.sendSlotsFree()).isZero();
      queuePair.ring();
      Completion completion;
      do {
        completion = h.awaitSuccess(h.client);
      } while (completion.workRequestId() != TransportSide.MAX_SENDS - 1);
    }
    assertThat(queuePair.sendSlotsFree()).isEqualTo(TransportSide.MAX_SENDS);
  }

  @Test
  default void shouldServeRegisteredFiles(@TempDir Path directory) throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    Path file = Files.write(directory.resolve("pool"), new byte[65536]);
    MemoryRegion source = h.client.region(4096, Access.LOCAL);
    byte[] sent = fill(source, 6);
    byte[] expected = new byte[65536];
    System.arraycopy(sent, 0, expected, 20480 + 100, 3000);
    try (MappedMemory memory = MappedMemory.map(file, 4096, 61440)) {
      MemoryRegion target = h.server.domain.register(memory, 16384, 8192, Access.REMOTE_READ_WRITE);
      assertThat(target.length()).isEqualTo(8192);
      pair.client()
          .write(
              1, piece(source, 0, 3000), target.address() + 100, target.rkey(), QueuePair.SIGNALED);
      pair.client().ring();
      h.awaitSuccess(h.client);
      target.close();
    }
    assertThat(Arrays.mismatch(Files.readAllBytes(file), expected)).isEqualTo(-1);
  }

  @Test
  default void shouldMapOnlyWhatIsTheSameMemory() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion target = h.server.region(8192, Access.REMOTE_READ_WRITE);
    byte[] expected = fill(target, 3);
    java.nio.ByteBuffer mapped = pair.client().map(target.address() + 4096, 4096, target.rkey());
    assertThat(h.client.transport.mapsMemory()).isEqualTo(h.world.mapsMemory());
    assertThat(mapped != null).as("maps memory").isEqualTo(h.world.mapsMemory());
    assumeTrue(mapped != null, "the transport maps nothing");
    assertThat(mapped.order()).isEqualTo(java.nio.ByteOrder.LITTLE_ENDIAN);
    byte[] through = new byte[4096];
    mapped.get(0, through);
    assertThat(through).isEqualTo(Arrays.copyOfRange(expected, 4096, 8192));
    mapped.putLong(8, 42);
    assertThat(target.buffer().getLong(4096 + 8)).isEqualTo(42);
    assertThat(pair.client().map(target.address() + 4097, 4096, target.rkey())).isNull();
  }
}
