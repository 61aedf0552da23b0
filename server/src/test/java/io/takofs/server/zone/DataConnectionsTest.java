package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.transport.QueuePair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DataConnectionsTest {
  private static final long CLIENT = 1;
  private static final Extent EXTENT =
      Extent.newBuilder().setOffset(1 << 20).setCapacity(Layout.UNIT_SIZE).build();

  private final AtomicInteger closed = new AtomicInteger();
  private WindowedClients clients;
  private WriteWindows windows;
  private DataConnections connections;

  @BeforeEach
  void register() throws Exception {
    clients = new WindowedClients();
    windows = clients.windows;
    connections = new DataConnections(() -> false, windows);
  }

  @AfterEach
  void unregister() {
    clients.close();
  }

  private FakeDevice.Pair connect(Consumer<Queue<Long>> onRing) throws Exception {
    FakeDevice.Pair pair = clients.connect(CLIENT, onRing);
    connections.add(CLIENT, pair.pair(), clients.export, closed::incrementAndGet);
    return pair;
  }

  @Test
  void shouldCloseAPairOnceNobodyPostsToIt() throws Exception {
    CountDownLatch posting = new CountDownLatch(1);
    CountDownLatch posted = new CountDownLatch(1);
    FakeDevice.Pair pair =
        connect(
            staged -> {
              posting.countDown();
              await(posted);
            });
    windows.open(CLIENT, 7, List.of(EXTENT), new ReplyGate());
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
    connect(staged -> {});
    connections.revokeEnded();
    assertThat(closed).hasValue(0);
    connect(staged -> {});
    connections.revokeEnded();
    assertThat(closed).hasValue(2);
    assertThat(connections.isConnected(CLIENT)).isFalse();
  }

  @Test
  void shouldAskAgainWhenADeviceDoesNotReset() throws Exception {
    QueuePair pair = refusedOnce(clients.connect(CLIENT, staged -> {}).pair());
    connections.add(CLIENT, pair, clients.export, closed::incrementAndGet);
    connections.ended(pair);
    connections.revokeEnded();
    assertThat(closed).hasValue(0);
    assertThat(connections.isConnected(CLIENT)).isTrue();
    connections.revokeEnded();
    assertThat(closed).hasValue(1);
    assertThat(connections.isConnected(CLIENT)).isFalse();
  }

  /** A pair whose first revocation fails. */
  private static QueuePair refusedOnce(QueuePair pair) {
    AtomicInteger revocations = new AtomicInteger();
    return (QueuePair)
        Proxy.newProxyInstance(
            QueuePair.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (self, method, arguments) -> {
              if (method.getName().equals("revoke") && revocations.getAndIncrement() == 0) {
                throw new UncheckedIOException(new IOException("the device does not reset it"));
              }
              return method.invoke(pair, arguments);
            });
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
