package io.takofs.transport;

import static io.takofs.transport.TransportHarness.assertBytes;
import static io.takofs.transport.TransportHarness.fill;
import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Keys, bounds and access rights: what is refused lands nowhere and ends the pair. */
interface AccessTests extends HarnessedTests {
  /** One operation on 16 remote bytes at an address, by a key. */
  @FunctionalInterface
  interface RemoteOperation {
    void stage(QueuePair queuePair, ScatterGather local, long address, int rkey);
  }

  RemoteOperation WRITE = (pair, local, address, rkey) -> pair.write(1, local, address, rkey, 0);
  RemoteOperation READ = (pair, local, address, rkey) -> pair.read(1, local, address, rkey, 0);
  RemoteOperation ADD =
      (pair, local, address, rkey) -> pair.fetchAndAdd(1, local, address, rkey, 1, 0);
  RemoteOperation SWAP =
      (pair, local, address, rkey) -> pair.compareAndSwap(1, local, address, rkey, 0, 1, 0);

  /** Posts the operation unsignalled on a new pair and expects the peer to refuse it. */
  private void expectRefused(RemoteOperation operation, long address, int rkey) throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(16, Access.LOCAL);
    boolean atomic = operation == ADD || operation == SWAP;
    operation.stage(pair.client(), piece(local, 0, atomic ? 8 : 16), address, rkey);
    pair.client().ring();
    Completion completion = h.await(h.client, 1).get(0);
    assertThat(completion.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    assertThat(completion.workRequestId()).isEqualTo(1);
    assertThat(pair.client().state()).isEqualTo(QueuePair.State.ERROR);
    assertThat(pair.client().errorText()).isNotEmpty();
    pair.client().close();
  }

  @Test
  default void shouldRefuseAnUnknownKey() throws IOException {
    MemoryRegion target = harness().server.region(64, Access.REMOTE_ATOMIC);
    byte[] before = fill(target, 1);
    expectRefused(WRITE, target.address(), target.rkey() ^ 0x5a5a5a);
    expectRefused(READ, target.address(), target.rkey() ^ 0x5a5a5a);
    expectRefused(ADD, target.address(), -1);
    expectRefused(SWAP, target.address(), 0);
    assertBytes(target, 0, before);
  }

  @Test
  default void shouldRefuseWhatIsOutsideTheRegion() throws IOException {
    MemoryRegion target = harness().server.region(8192, Access.REMOTE_ATOMIC);
    byte[] before = fill(target, 2);
    long end = target.address() + target.length();
    for (long address :
        new long[] {
          end, end - 15, target.address() - 1, target.address() - 16, -8, Long.MAX_VALUE - 7
        }) {
      expectRefused(WRITE, address, target.rkey());
      expectRefused(READ, address, target.rkey());
    }
    expectRefused(ADD, end, target.rkey());
    expectRefused(SWAP, target.address() - 8, target.rkey());
    assertBytes(target, 0, before);
  }

  @Test
  default void shouldRefuseALengthThatLeavesTheRegion() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    MemoryRegion local = h.client.region(1 << 20, Access.LOCAL);
    MemoryRegion target = h.server.region(65536, Access.REMOTE_READ_WRITE);
    byte[] before = fill(target, 3);
    pair.client()
        .write(5, piece(local, 0, 1 << 20), target.address(), target.rkey(), QueuePair.SIGNALED);
    pair.client().ring();
    assertThat(h.await(h.client, 1).get(0).status())
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    assertBytes(target, 0, before);
  }

  @Test
  default void shouldGrantNoMoreThanTheRegionAllows() throws IOException {
    TransportHarness h = harness();
    MemoryRegion local = h.server.region(64, Access.LOCAL);
    MemoryRegion readable = h.server.region(64, Access.REMOTE_READ);
    MemoryRegion writable = h.server.region(64, Access.REMOTE_READ_WRITE);
    byte[] before = fill(readable, 4);
    expectRefused(READ, local.address(), local.rkey());
    expectRefused(WRITE, local.address(), local.rkey());
    expectRefused(WRITE, readable.address(), readable.rkey());
    expectRefused(ADD, readable.address(), readable.rkey());
    expectRefused(ADD, writable.address(), writable.rkey());
    expectRefused(SWAP, writable.address(), writable.rkey());
    assertBytes(local, 0, new byte[64]);
    assertBytes(readable, 0, before);
    assertBytes(writable, 0, new byte[64]);
  }

  @Test
  default void shouldRefuseTheKeyOfAnotherDomain() throws IOException {
    TransportHarness h = harness();
    ProtectionDomain other = h.server.transport.allocateProtectionDomain();
    MemoryRegion target = other.allocate(64, Access.REMOTE_ATOMIC);
    expectRefused(WRITE, target.address(), target.rkey());
    expectRefused(READ, target.address(), target.rkey());
    assertBytes(target, 0, new byte[64]);
  }

  @Test
  default void shouldRefuseTheKeyOfAClosedRegion() throws IOException {
    TransportHarness h = harness();
    MemoryRegion target = h.server.region(64, Access.REMOTE_READ_WRITE);
    long address = target.address();
    int rkey = target.rkey();
    target.close();
    expectRefused(WRITE, address, rkey);
    expectRefused(READ, address, rkey);
  }

  @Test
  default void shouldKeepOtherPairsAfterARefusal() throws IOException {
    TransportHarness h = harness();
    Pair good = h.connect();
    MemoryRegion local = h.client.region(64, Access.LOCAL);
    MemoryRegion target = h.server.region(64, Access.REMOTE_READ_WRITE);
    byte[] sent = fill(local, 7);
    expectRefused(WRITE, 0, 0);
    good.client()
        .write(1, piece(local, 0, 64), target.address(), target.rkey(), QueuePair.SIGNALED);
    good.client().ring();
    h.awaitSuccess(h.client);
    assertBytes(target, 0, sent);
  }

  @Test
  default void shouldFailPiecesThatAreNotInTheirRegion() throws IOException {
    TransportHarness h = harness();
    MemoryRegion target = h.server.region(64, Access.REMOTE_READ_WRITE);
    MemoryRegion local = h.client.region(64, Access.LOCAL);
    MemoryRegion closed = h.client.region(64, Access.LOCAL);
    closed.close();
    ScatterGather[] wrong = {
      piece(local, 60, 5),
      piece(local, -1, 5),
      piece(local, 65, 0),
      piece(local, 0, -1),
      piece(local, Integer.MAX_VALUE, 5),
      piece(closed, 0, 8),
      piece(local, 0, 8).add(local, 64, 1),
    };
    for (ScatterGather pieces : wrong) {
      Pair pair = h.connect();
      pair.client().write(1, piece(local, 0, 8), target.address(), target.rkey(), 0);
      pair.client().write(2, pieces, target.address(), target.rkey(), 0);
      pair.client().write(3, piece(local, 0, 8), target.address(), target.rkey(), 0);
      pair.client().ring();
      Completion failed = h.await(h.client, 1).get(0);
      while (failed.workRequestId() == 1) { // May be flushed or done: it was posted before.
        assertThat(failed.status()).isEqualTo(CompletionStatus.FLUSHED);
        failed = h.await(h.client, 1).get(0);
      }
      assertThat(failed.workRequestId()).isEqualTo(2);
      assertThat(failed.status()).isEqualTo(CompletionStatus.LOCAL_ACCESS_ERROR);
      Completion flushed = h.await(h.client, 1).get(0);
      assertThat(flushed.workRequestId()).isEqualTo(3);
      assertThat(flushed.status()).isEqualTo(CompletionStatus.FLUSHED);
      assertThat(pair.client().state()).isEqualTo(QueuePair.State.ERROR);
      pair.client().close();
    }
  }
}
