package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Extent;
import io.takofs.rpc.ConnectionInfo;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DataConnectionsTest {
  private static final long CLIENT = 1;
  private static final Extent EXTENT =
      Extent.newBuilder().setOffset(1 << 20).setCapacity(Layout.UNIT_SIZE).build();

  private final FakeDevice device = new FakeDevice();
  private final WriteWindows windows = new WriteWindows();
  private final DataConnections connections = new DataConnections(() -> false, windows);
  private final AtomicInteger closed = new AtomicInteger();
  private MappedMemory arena;
  private ArenaExport export;

  @BeforeEach
  void register() throws Exception {
    arena = MappedMemory.anonymous(2 << 20, false);
    export = new ArenaExport(device, List.of(arena));
  }

  @AfterEach
  void unmap() {
    export.close();
    arena.close();
  }

  private void add(FakeDevice.Pair pair) throws Exception {
    ConnectionInfo client = ConnectionInfo.ours(Layout.CONNECTION_DATA, CLIENT, 0, 64, 64);
    WindowPosts posts = new WindowPosts(pair.pair(), export, client);
    windows.connected(CLIENT, new WindowedConnection(pair.pair(), posts));
    connections.add(CLIENT, pair.pair(), export, 0, closed::incrementAndGet);
  }

  @Test
  void shouldCloseAPairOnceNobodyPostsToIt() throws Exception {
    CountDownLatch posting = new CountDownLatch(1);
    CountDownLatch posted = new CountDownLatch(1);
    FakeDevice.Pair pair =
        FakeDevice.newPair(
            staged -> {
              posting.countDown();
              await(posted);
            });
    add(pair);
    windows.open(CLIENT, 7, List.of(EXTENT), new Ticket());
    Thread poster = new Thread(windows::post);
    poster.start();
    await(posting);
    connections.ended(pair.pair());
    Thread sweeper = new Thread(connections::sweep);
    sweeper.start();
    awaitBlocked(sweeper);

    connections.revokeEnded();
    assertThat(closed).hasValue(0);
    assertThat(connections.isConnected(CLIENT)).isTrue();

    posted.countDown();
    poster.join();
    sweeper.join();
    assertThat(closed).hasValue(1);
    assertThat(connections.isConnected(CLIENT)).isFalse();
  }

  @Test
  void shouldEndBothConnectionsOfAClientThatHasTwo() throws Exception {
    add(FakeDevice.newPair(staged -> {}));
    connections.revokeEnded();
    assertThat(closed).hasValue(0);
    add(FakeDevice.newPair(staged -> {}));
    connections.revokeEnded();
    assertThat(closed).hasValue(2);
    assertThat(connections.isConnected(CLIENT)).isFalse();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitBlocked(Thread thread) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (thread.getState() != Thread.State.BLOCKED) {
      assertThat(System.nanoTime() - end).isNegative();
      Thread.onSpinWait();
    }
  }
}
