package io.takofs.transport;

import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * The rights that a memory window grants, to whom, and for how long; for transports with windows.
 */
interface WindowTests extends HarnessedTests {
  int OFFSET = 4096;
  int LENGTH = 8192;

  /** A read-only region of the server, and a window on part of it. */
  final class Zone {
    final TransportHarness h;
    final MemoryRegion region;
    final MemoryRegion local;
    final MemoryWindow window;

    Zone(TransportHarness h) throws IOException {
      this.h = h;
      region = h.server.region(65536, Access.REMOTE_READ);
      local = h.client.region(65536, Access.LOCAL);
      local.buffer().putLong(0, 42);
      window = h.server.domain.allocateWindow();
    }

    void bind(Pair pair) throws IOException {
      QueuePair server = pair.server();
      server.bind(7, window, region, OFFSET, LENGTH, Access.REMOTE_READ_WRITE, QueuePair.SIGNALED);
      server.ring();
      Completion done = h.awaitSuccess(h.server);
      assertThat(done.opcode()).isEqualTo(Opcode.BIND_WINDOW);
      assertThat(done.workRequestId()).isEqualTo(7);
    }

    void invalidate(Pair pair) {
      pair.server().invalidate(8, window, QueuePair.SIGNALED);
      pair.server().ring();
      assertThat(h.awaitSuccess(h.server).opcode()).isEqualTo(Opcode.INVALIDATE_WINDOW);
    }

    void write(Pair pair, int offset, int length, int rkey) {
      pair.client()
          .write(1, piece(local, 0, length), region.address() + offset, rkey, QueuePair.SIGNALED);
      pair.client().ring();
    }

    void expectWritten(Pair pair, int offset, int length) {
      write(pair, offset, length, window.rkey());
      h.awaitSuccess(h.client);
      assertThat(region.buffer().getLong(offset)).isEqualTo(42);
    }

    /** Refused, and what was there is still there. */
    void expectRefused(Pair pair, int offset, int length, int rkey) {
      byte[] before = new byte[region.length()];
      region.buffer().get(0, before);
      write(pair, offset, length, rkey);
      assertThat(h.await(h.client, 1).get(0).status())
          .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
      TransportHarness.assertBytes(region, 0, before);
    }
  }

  private Zone zone() throws IOException {
    assumeTrue(harness().server.transport.hasMemoryWindows(), "the transport has no windows");
    return new Zone(harness());
  }

  @Test
  default void shouldSayWhetherThereAreWindows() throws IOException {
    TransportHarness h = harness();
    if (h.server.transport.hasMemoryWindows()) {
      h.server.domain.allocateWindow().close();
    } else {
      assertThatThrownBy(h.server.domain::allocateWindow)
          .isInstanceOfSatisfying(
              TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNSUPPORTED));
    }
  }

  @Test
  default void shouldLetWriteThroughAWindowToAReadOnlyRegion() throws IOException {
    Zone zone = zone();
    Pair pair = zone.h.connect();
    zone.bind(pair);
    zone.expectWritten(pair, OFFSET, 8);
    zone.expectWritten(pair, OFFSET + LENGTH - 8, 8);
    zone.expectWritten(pair, OFFSET, LENGTH);
  }

  @Test
  default void shouldRefuseWritesThatLeaveTheWindow() throws IOException {
    Zone zone = zone();
    for (int offset : new int[] {OFFSET - 8, OFFSET - 4, OFFSET + LENGTH - 4, OFFSET + LENGTH, 0}) {
      Pair pair = zone.h.connect();
      MemoryWindow window = zone.h.server.domain.allocateWindow();
      pair.server()
          .bind(
              7, window, zone.region, OFFSET, LENGTH, Access.REMOTE_READ_WRITE, QueuePair.SIGNALED);
      pair.server().ring();
      zone.h.awaitSuccess(zone.h.server);
      zone.expectRefused(pair, offset, 8, window.rkey());
      pair.client().close();
      pair.server().close();
    }
  }

  @Test
  default void shouldRefuseWritesByTheKeyOfTheReadOnlyRegion() throws IOException {
    Zone zone = zone();
    Pair pair = zone.h.connect();
    zone.bind(pair);
    zone.expectRefused(pair, OFFSET, 8, zone.region.rkey());
  }

  @Test
  default void shouldRefuseTheWindowOfAnotherQueuePair() throws IOException {
    Zone zone = zone();
    Pair pair = zone.h.connect();
    Pair other = zone.h.connect();
    zone.bind(pair);
    zone.expectRefused(other, OFFSET, 8, zone.window.rkey());
    zone.expectWritten(pair, OFFSET, 8);
  }

  @Test
  default void shouldRefuseGuessedKeysBesideAWindow() throws IOException {
    Zone zone = zone();
    for (int guess = 1; guess <= 3; guess++) {
      Pair pair = zone.h.connect();
      MemoryWindow window = zone.h.server.domain.allocateWindow();
      pair.server().bind(7, window, zone.region, OFFSET, LENGTH, Access.REMOTE_READ_WRITE, 1);
      pair.server().ring();
      zone.h.awaitSuccess(zone.h.server);
      zone.expectRefused(pair, OFFSET, 8, window.rkey() + guess);
      pair.client().close();
      pair.server().close();
    }
  }

  @Test
  default void shouldRefuseAllOnceTheWindowIsInvalidated() throws IOException {
    Zone zone = zone();
    Pair pair = zone.h.connect();
    zone.bind(pair);
    zone.expectWritten(pair, OFFSET, 8);
    zone.invalidate(pair);
    zone.region.buffer().putLong(OFFSET, 1);
    zone.expectRefused(pair, OFFSET, 8, zone.window.rkey());
  }

  @Test
  default void shouldGiveAnotherKeyWhenTheWindowIsBoundAgain() throws IOException {
    Zone zone = zone();
    Pair pair = zone.h.connect();
    zone.bind(pair);
    int first = zone.window.rkey();
    zone.invalidate(pair);
    zone.bind(pair);
    assertThat(zone.window.rkey()).isNotEqualTo(first);
    zone.expectWritten(pair, OFFSET, 8);
    zone.expectRefused(pair, OFFSET, 8, first);
  }

  /** Operations under way when the key ended are over when a read posted after it is. */
  @Test
  default void shouldHaveFlushedWhatWasUnderWayWhenALaterReadIsDone() throws IOException {
    Zone zone = zone();
    TransportHarness h = zone.h;
    MemoryRegion word = h.client.region(8, Access.REMOTE_READ);
    MemoryRegion sink = h.server.region(8, Access.LOCAL);
    Pair pair = h.connect();
    zone.bind(pair);
    for (int i = 0; i < 32; i++) {
      pair.client()
          .write(
              i,
              piece(zone.local, 0, LENGTH),
              zone.region.address() + OFFSET,
              zone.window.rkey(),
              0);
    }
    pair.client().ring();
    pair.server().invalidate(8, zone.window, 0);
    pair.server().read(9, piece(sink, 0, 8), word.address(), word.rkey(), QueuePair.SIGNALED);
    pair.server().ring();
    h.waitUntil("the read or the end", () -> h.server.pending() > 0);
    Completion read = h.server.take(1).get(0);
    if (read.status() != CompletionStatus.SUCCESS) {
      h.waitUntil("the end of the pair", pair.server()::revoke); // a refused write ended it first
    }
    byte[] after = new byte[LENGTH];
    zone.region.buffer().get(OFFSET, after);
    h.pass(50_000_000);
    TransportHarness.assertBytes(zone.region, OFFSET, after);
  }
}
