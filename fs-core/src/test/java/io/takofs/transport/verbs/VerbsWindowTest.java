package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.takofs.transport.Access;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a window grants, to whom, and for how long. */
@Tag("verbs")
@Timeout(120)
class VerbsWindowTest {
  private static final int WINDOW_OFFSET = 4096;
  private static final int WINDOW_LENGTH = 8192;

  private ConnectedPair world;
  private VerbsMemoryRegion zone;
  private MemoryRegion local;
  private VerbsMemoryWindow window;

  @BeforeAll
  static void needDevice() {
    Device.assumePresent();
  }

  @BeforeEach
  void open() throws IOException {
    world = new ConnectedPair(256);
    zone = (VerbsMemoryRegion) world.server.domain.allocate(65536, Access.REMOTE_READ);
    local = world.client.domain.allocate(65536, Access.LOCAL);
    window = ((VerbsProtectionDomain) world.server.domain).allocateWindow();
    local.buffer().putLong(0, 42);
  }

  @AfterEach
  void close() {
    world.close();
  }

  private int bind(VerbsQueuePair pair) {
    int rkey =
        pair.bind(
            7,
            window,
            zone,
            WINDOW_OFFSET,
            WINDOW_LENGTH,
            Access.REMOTE_READ_WRITE,
            QueuePair.SIGNALED);
    pair.ring();
    ConnectedPair.Done done = world.server.next();
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(done.opcode()).isEqualTo(Opcode.BIND_WINDOW);
    assertThat(done.id()).isEqualTo(7);
    return rkey;
  }

  private CompletionStatus write(VerbsQueuePair pair, int offset, int length, int rkey) {
    pair.write(
        1,
        new ScatterGather().add(local, 0, length),
        zone.address() + offset,
        rkey,
        QueuePair.SIGNALED);
    pair.ring();
    return world.client.next().status();
  }

  @Test
  void shouldGrantWritesToAReadOnlyRegion() throws Exception {
    ConnectedPair.Ends ends = world.connect();
    int rkey = bind(ends.server());
    assertThat(write(ends.client(), WINDOW_OFFSET, 8, rkey)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(write(ends.client(), WINDOW_OFFSET + WINDOW_LENGTH - 8, 8, rkey))
        .isEqualTo(CompletionStatus.SUCCESS);
    assertThat(zone.buffer().getLong(WINDOW_OFFSET)).isEqualTo(42);
    assertThat(zone.buffer().getLong(WINDOW_OFFSET + WINDOW_LENGTH - 8)).isEqualTo(42);
  }

  @Test
  void shouldRefuseWritesOutsideOfIt() throws Exception {
    assumeFalse(
        world.server.transport.control().facts().device().startsWith("rxe"),
        "soft-RoCE checks a window's key, queue pair and rights, but the region's bounds");
    for (int offset : new int[] {WINDOW_OFFSET - 8, WINDOW_OFFSET + WINDOW_LENGTH - 4, 0}) {
      ConnectedPair.Ends ends = world.connect();
      int rkey = bind(ends.server());
      assertThat(write(ends.client(), offset, 8, rkey))
          .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
      assertThat(zone.buffer().getLong(offset)).isZero();
      // The window went down with the pair it was bound through: the next round needs another.
      ends.client().close();
      ends.server().close();
      window.close();
      window = ((VerbsProtectionDomain) world.server.domain).allocateWindow();
    }
  }

  @Test
  void shouldRefuseTheKeyOfTheRegionItself() throws Exception {
    ConnectedPair.Ends ends = world.connect();
    bind(ends.server());
    assertThat(write(ends.client(), WINDOW_OFFSET, 8, zone.rkey()))
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    assertThat(zone.buffer().getLong(WINDOW_OFFSET)).isZero();
  }

  @Test
  void shouldRefuseAnotherQueuePair() throws Exception {
    ConnectedPair.Ends ends = world.connect();
    ConnectedPair.Ends others = world.connect();
    int rkey = bind(ends.server());
    assertThat(write(others.client(), WINDOW_OFFSET, 8, rkey))
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    assertThat(zone.buffer().getLong(WINDOW_OFFSET)).isZero();
    assertThat(ends.client().state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  @Test
  void shouldRefuseAllOnceItIsInvalidated() throws Exception {
    ConnectedPair.Ends ends = world.connect();
    int rkey = bind(ends.server());
    assertThat(write(ends.client(), WINDOW_OFFSET, 8, rkey)).isEqualTo(CompletionStatus.SUCCESS);
    ends.server().invalidate(8, rkey, QueuePair.SIGNALED);
    ends.server().ring();
    ConnectedPair.Done done = world.server.next();
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(done.opcode()).isEqualTo(Opcode.INVALIDATE_WINDOW);
    zone.buffer().putLong(WINDOW_OFFSET, 1);
    assertThat(write(ends.client(), WINDOW_OFFSET, 8, rkey))
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    assertThat(zone.buffer().getLong(WINDOW_OFFSET)).isEqualTo(1);
  }

  @Test
  void shouldTakeAnotherKeyWhenBoundAgain() throws Exception {
    ConnectedPair.Ends ends = world.connect();
    int first = bind(ends.server());
    ends.server().invalidate(8, first, 0);
    int second = bind(ends.server());
    assertThat(second).isNotEqualTo(first);
    assertThat(write(ends.client(), WINDOW_OFFSET, 8, second)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(write(ends.client(), WINDOW_OFFSET, 8, first))
        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
  }
}
