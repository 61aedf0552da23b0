package io.takofs.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.CloseSnapshot;
import io.takofs.proto.GetUsage;
import io.takofs.proto.OpenSnapshot;
import io.takofs.proto.RenewSnapshot;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SnapshotInfo;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.PagedStores;
import io.takofs.transport.Access;
import io.takofs.transport.BufferRegion;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SnapshotSourceTest {
  private static final int GROUP = 3;

  private final ManualClock clock = new ManualClock();
  private final PagedStore store = new PagedStores(1024).open();
  private final SnapshotSource source = source(1, store, 4);

  /** A source whose zone is {@code regions} of a few bytes: nobody reads it here. */
  private SnapshotSource source(long epoch, PagedStore of, int regions) {
    List<MemoryRegion> zone = new ArrayList<>();
    for (int i = 0; i < regions; i++) {
      zone.add(
          new BufferRegion(ByteBuffer.allocate(8), (i + 1L) << 40, -i - 1, Access.REMOTE_READ) {
            @Override
            public void close() {}
          });
    }
    SnapshotSource made =
        new SnapshotSource(
            GROUP, epoch, clock, transport -> transport.equals("sim") ? zone : List.of());
    made.use(of);
    return made;
  }

  private static OpenSnapshot.Builder wanted(int server) {
    return OpenSnapshot.newBuilder().setGroup(GROUP).setServer(server).setTransport("sim");
  }

  private static Reply ask(SnapshotSource of, OpenSnapshot.Builder open) {
    return of.handle(Request.newBuilder().setOpenSnapshot(open).build());
  }

  private long open(int server) {
    Reply reply = ask(source, wanted(server));
    assertThat(reply.getStatus()).as(reply.getMessage()).isEqualTo(Status.OK);
    return reply.getSnapshotInfo().getSnapshot();
  }

  private static RenewSnapshot.Builder renewal(long snapshot) {
    return RenewSnapshot.newBuilder().setGroup(GROUP).setSnapshot(snapshot);
  }

  private Reply ask(RenewSnapshot.Builder renew) {
    return source.handle(Request.newBuilder().setRenewSnapshot(renew).build());
  }

  private boolean isHeld(long snapshot) {
    Reply reply = ask(renewal(snapshot));
    assertThat(reply.getStatus()).isEqualTo(Status.OK);
    return reply.getSnapshotState().getHeld();
  }

  private void close(long snapshot) {
    CloseSnapshot close = CloseSnapshot.newBuilder().setGroup(GROUP).setSnapshot(snapshot).build();
    Reply reply = source.handle(Request.newBuilder().setCloseSnapshot(close).build());
    assertThat(reply.getStatus()).isEqualTo(Status.OK);
  }

  @Test
  void shouldHoldUntilItIsClosedOrItsReaderSaysNothing() {
    long one = open(1);
    long two = open(2);
    assertThat(two).isNotEqualTo(one);
    assertThat(isHeld(one)).isTrue();
    close(one);
    assertThat(isHeld(one)).isFalse();
    close(one);
    for (int i = 0; i < 5; i++) {
      clock.advance(Duration.ofSeconds(9));
      assertThat(isHeld(two)).isTrue();
    }
    clock.advance(Duration.ofSeconds(10));
    source.tick();
    assertThat(source.held()).isEqualTo(1);
    clock.advanceMillis(1);
    source.tick();
    assertThat(source.held()).isZero();
    assertThat(isHeld(two)).isFalse();
  }

  @Test
  void shouldGiveUpWhatItHoldsWhenAnotherStoreComes() {
    long former = open(1);
    source.use(null);
    assertThat(isHeld(former)).isFalse();
    Reply none = ask(source, wanted(1));
    assertThat(none.getStatus()).isEqualTo(Status.UNAVAILABLE);
    assertThat(none.getMessage()).contains("no state");
    source.use(new PagedStores(1024).open());
    assertThat(isHeld(former)).isFalse();
    assertThat(open(1)).isNotEqualTo(former);
  }

  @Test
  void shouldHoldOneCheckpointForAMemberAndAFewForAll() {
    long first = open(1);
    long again = open(1);
    assertThat(source.held()).isEqualTo(1);
    assertThat(isHeld(first)).isFalse();
    assertThat(isHeld(again)).isTrue();
    for (int server = 2; server <= 8; server++) {
      open(server);
    }
    Reply refused = ask(source, wanted(9));
    assertThat(refused.getStatus()).isEqualTo(Status.BUSY);
    assertThat(refused.getMessage()).contains("later");
    open(8);
    close(again);
    open(9);
  }

  @Test
  void shouldNeverUseANumberAgainAlsoAfterARestart() {
    Set<Long> numbers = new HashSet<>();
    for (int epoch = 1; epoch <= 3; epoch++) {
      SnapshotSource started = source(epoch, store, 1);
      for (int i = 0; i < 5; i++) {
        assertThat(numbers.add(ask(started, wanted(1)).getSnapshotInfo().getSnapshot())).isTrue();
      }
    }
  }

  @Test
  void shouldRefuseWhatItCannotGive() {
    store.checkpoint(5);
    Reply older = ask(source, wanted(1).setAtLeastIndex(6));
    assertThat(older.getStatus()).isEqualTo(Status.UNAVAILABLE);
    assertThat(older.getMessage()).contains("entry 5", "6", "another member");
    assertThat(ask(source, wanted(1).setAtLeastIndex(-1)).getStatus())
        .isEqualTo(Status.UNAVAILABLE);
    assertThat(ask(source, wanted(1).setAtLeastIndex(5)).getStatus()).isEqualTo(Status.OK);
    long held = open(1);
    Reply transport = ask(source, wanted(1).setTransport("verbs"));
    assertThat(transport.getStatus()).isEqualTo(Status.UNSUPPORTED);
    assertThat(transport.getMessage()).contains("verbs");
    assertThat(isHeld(held)).isTrue();
    assertThat(ask(source, wanted(1).setGroup(4)).getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
    assertThat(ask(renewal(held).setGroup(4)).getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
    assertThat(ask(renewal(held).setPagesFrom(-1)).getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
    Request other = Request.newBuilder().setGetUsage(GetUsage.getDefaultInstance()).build();
    assertThat(source.handle(other).getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
  }

  /** The largest list has 32 KiB; the rest has room beside it, of a zone of 64 GiB. */
  @Test
  void shouldAnswerWhatFitsAReply() {
    Reply opened = ask(source(1, store, 64), wanted(1));
    SnapshotInfo info = opened.getSnapshotInfo();
    assertThat(info.getMemoryCount()).isEqualTo(64);
    assertThat(info.getCheckpoint().size()).isEqualTo(Layout.CHECKPOINT_SIZE);
    assertThat(opened.getSerializedSize() + (32 << 10) + 64)
        .isLessThan(Layout.RPC_REPLY_SLOT_SIZE - Layout.RPC_HEADER_SIZE);
  }
}
