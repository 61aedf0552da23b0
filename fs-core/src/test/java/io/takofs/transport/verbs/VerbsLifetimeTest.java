package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.Access;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.TransportCounters.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Completion queues that grow, pairs that come and go, closing in any order. */
@Tag("verbs")
@Timeout(120)
class VerbsLifetimeTest {
  private ConnectedPair world;
  private MemoryRegion local;
  private MemoryRegion target;

  @BeforeAll
  static void needDevice() {
    Device.assumePresent();
  }

  @BeforeEach
  void open() throws IOException {
    world = new ConnectedPair(1);
    local = world.client.domain.allocate(64, Access.LOCAL);
    target = world.server.domain.allocate(64, Access.REMOTE_READ_WRITE);
  }

  @AfterEach
  void close() {
    world.close();
  }

  private void writeUnsignalled(QueuePair pair, int count) {
    for (int i = 0; i < count; i++) {
      pair.write(i, new ScatterGather().add(local, 0, 8), target.address(), target.rkey(), 0);
    }
    pair.ring();
  }

  /** The queues ask for room for one completion, and each pair in error makes more than that. */
  @Test
  void shouldMakeRoomForTheFlushesOfAllPairs() throws Exception {
    List<ConnectedPair.Ends> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(world.connect());
      for (int k = 0; k < ConnectedPair.DEPTH; k++) {
        all.get(i).server().postReceive(k);
      }
    }
    all.forEach(ends -> ends.server().fail("the test wants it"));
    for (int i = 0; i < 10 * ConnectedPair.DEPTH; i++) {
      assertThat(world.server.next().status()).isEqualTo(CompletionStatus.FLUSHED);
    }
  }

  @Test
  void shouldGiveSlotsBackThatNobodyWantedToHearOf() throws Exception {
    QueuePair pair = world.connect().client();
    for (int round = 0; round < 50; round++) {
      writeUnsignalled(pair, ConnectedPair.DEPTH);
      while (pair.sendSlotsFree() < ConnectedPair.DEPTH) {
        world.client.queue.await(1_000_000);
        world.client.drain();
      }
    }
    assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  /** A probe takes none of its owner's slots and completes for nobody. */
  @Test
  void shouldProbeUnnoticed() throws Exception {
    VerbsQueuePair pair = world.connect().client();
    for (int round = 0; round < 3; round++) {
      pair.probe();
      assertThat(pair.sendSlotsFree()).isEqualTo(ConnectedPair.DEPTH);
      for (int i = 1; i < ConnectedPair.DEPTH; i++) {
        pair.write(i, new ScatterGather(), target.address(), target.rkey(), 0);
      }
      pair.write(0, new ScatterGather(), target.address(), target.rkey(), QueuePair.SIGNALED);
      assertThat(pair.sendSlotsFree()).isZero();
      pair.ring();
      assertThat(world.client.next().id()).isZero();
      assertThat(pair.sendSlotsFree()).isEqualTo(ConnectedPair.DEPTH);
    }
    assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  /** Soft-RoCE would bind again, and fail, if it had to send the probe again. */
  @Test
  void shouldBindNoWindowWhileAProbeIsUnderWay() throws Exception {
    VerbsQueuePair pair = world.connect().server();
    VerbsProtectionDomain domain = (VerbsProtectionDomain) world.server.domain;
    MemoryRegion region = domain.allocate(4096, Access.REMOTE_READ);
    VerbsMemoryWindow window = domain.allocateWindow();
    waitUntilEstablished(pair);
    long sends = world.server.transport.counters().get(Counter.SENDS);
    pair.probe();
    pair.bind(7, window, region, 0, 4096, Access.REMOTE_READ_WRITE, QueuePair.SIGNALED);
    pair.ring();
    assertThat(world.server.transport.counters().get(Counter.SENDS)).isEqualTo(sends);

    ConnectedPair.Done done = world.server.next();
    assertThat(done.id()).isEqualTo(7);
    assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(world.server.transport.counters().get(Counter.SENDS)).isEqualTo(sends + 1);
  }

  /**
   * The accepting side may post only a little after the connecting side learned that it is
   * connected; a pair that may not probes nothing.
   */
  private void waitUntilEstablished(VerbsQueuePair pair) {
    pair.write(6, new ScatterGather(), 0, 0, QueuePair.SIGNALED);
    pair.ring();
    assertThat(world.server.next().id()).isEqualTo(6);
  }

  /** Places in the completion queues come back; more connections than fit are made in turn. */
  @Test
  void shouldConnectAndCloseManyTimes() throws Exception {
    for (int i = 0; i < 60; i++) {
      ConnectedPair.Ends ends = world.connect();
      writeUnsignalled(ends.client(), 3);
      QueuePair first = i % 2 == 0 ? ends.client() : ends.server();
      QueuePair second = i % 2 == 0 ? ends.server() : ends.client();
      first.close();
      second.close();
      world.client.drain();
      world.server.drain();
      assertThat(first.state()).isEqualTo(QueuePair.State.CLOSED);
    }
  }

  @Test
  void shouldCloseTheQueueBeforeItsPairs() throws Exception {
    ConnectedPair.Ends ends = world.connect();
    world.client.queue.close();
    world.client.queue.wakeup();
    assertThat(world.client.queue.poll((pair, id, code, status, bytes, imm) -> {}, 8)).isZero();
    world.client.queue.await(Long.MAX_VALUE);
    writeUnsignalled(ends.client(), 2);
    ends.client().close();
    ends.client().close();
  }
}
