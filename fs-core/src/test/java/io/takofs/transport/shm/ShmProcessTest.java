package io.takofs.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers in other processes that die, freeze and leave things behind. */
@Timeout(120)
class ShmProcessTest {
  private static final int STOPS = 20;
  private static final int DEATHS = 4;

  /** Milliseconds for which a peer goes on without hearing of the end of its connection. */
  private static final int DEAF_MS = 1000;

  @TempDir Path directory;

  private ShmSide side;
  private Transport.Listener listener;
  private Process peer;

  @BeforeEach
  void listen() throws IOException {
    side = new ShmSide(directory);
    listener = side.transport.listen("", side);
  }

  @AfterEach
  void end() {
    if (peer != null) {
      peer.destroyForcibly();
    }
    side.close();
  }

  /** Starts a peer that writes all the time, and waits until it does. */
  private QueuePair startWriter() throws IOException {
    peer = ShmPeerProcess.start(directory, listener.endpoint());
    side.pollUntil("the peer", () -> !side.accepted.isEmpty());
    side.pollUntil("its writes", () -> side.region.buffer().getLong(0) > 1);
    return side.accepted.remove();
  }

  @Test
  void shouldFlushAndTellWhenThePeerIsKilled() throws Exception {
    QueuePair pair = startWriter();
    assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
    peer.destroyForcibly().waitFor();
    side.pollUntil("the disconnection", () -> side.disconnected.contains(pair));
    side.pollUntil("the receives", () -> side.receives.size() == ShmSide.DEPTH);
    assertThat(side.receives).containsOnly(CompletionStatus.FLUSHED);
    assertThat(pair.state()).isEqualTo(QueuePair.State.ERROR);
    assertThat(pair.errorText()).contains("process " + peer.pid());
    side.write(pair, 8);
    pair.ring();
    side.pollUntil("the write", () -> side.sends.size() == 1);
    assertThat(side.sends).containsExactly(CompletionStatus.FLUSHED);
    side.pollUntil("the revocation", pair::revoke);
    pair.close();
    assertThat(side.disconnected).hasSize(1);
  }

  @Test
  void shouldFenceALivePeerWithoutItsCooperation() throws Exception {
    QueuePair pair = startWriter();
    side.pollUntil("the revocation", pair::revoke);
    byte[] marked = mark();
    assertThat(peer.waitFor()).isZero();
    assertRegionIs(marked);
  }

  @Test
  void shouldNotPromiseARevocationOfAFrozenPeer() throws Exception {
    QueuePair pair = startWriter();
    ShmPeerProcess.freeze(peer);
    for (int i = 0; i < 20; i++) {
      assertThat(pair.revoke()).isFalse();
      side.queue.await(TimeUnit.MILLISECONDS.toNanos(1));
    }
    pair.close(); // Does not wait for the peer.
    assertThat(pair.state()).isEqualTo(QueuePair.State.CLOSED);
    assertThat(pair.revoke()).isFalse();
    ShmPeerProcess.goOn(peer);
    side.pollUntil("the revocation", pair::revoke);
    byte[] marked = mark();
    assertThat(peer.waitFor()).isZero();
    assertRegionIs(marked);
  }

  @Test
  void shouldRevokeAFrozenPeerThatIsKilled() throws Exception {
    QueuePair pair = startWriter();
    ShmPeerProcess.freeze(peer);
    assertThat(pair.revoke()).isFalse();
    peer.destroyForcibly().waitFor();
    side.pollUntil("the revocation", pair::revoke);
  }

  /**
   * Stopped in the middle of large writes, most of the time; revoked and copied while it stands.
   * What it writes when it goes on lands in the region, and none of it counts.
   */
  @Test
  void shouldCountNothingThatAStoppedPeerWritesAfterItsRevocation() throws Exception {
    try (ShmSide target = new ShmSide(directory, CountingWriter.REGION);
        Transport.Listener at = target.transport.listen("", target)) {
      peer = ShmPeerProcess.start(directory, at.endpoint(), "counting");
      BufferedReader reports = lines(peer);
      ByteBuffer region = target.region.buffer();
      for (int round = 0; round < STOPS; round++) {
        target.pollUntil("the peer", () -> !target.accepted.isEmpty());
        QueuePair pair = target.accepted.remove();
        target.pollUntil("its writes", () -> region.getLong(0) > 2);
        ShmPeerProcess.freeze(peer);
        assertThat(pair.revoke()).isFalse();
        ByteBuffer copy = copyFromTheEnd(region);
        ShmPeerProcess.goOn(peer);

        long[] counted = CountingWriter.parse(reports.readLine());
        assertCounts(counted, copy);
        target.pollUntil("the revocation", pair::revoke);
        pair.close();
        region.put(0, new byte[CountingWriter.REGION]); // old numbers would hide missing ones
        peer.getOutputStream().write('\n');
        peer.getOutputStream().flush();
      }
    }
  }

  /**
   * The target is killed while the peer stands in the middle of large writes; the target's next
   * process copies its memory, which is a file. The peer goes on, and its socket has not told it of
   * the end yet.
   */
  @Test
  void shouldCountNothingThatAStoppedPeerWritesAfterTheTargetStartedAgain() throws Exception {
    for (int round = 0; round < DEATHS; round++) {
      Path file = directory.resolve("pool-" + round);
      Path shared = directory.resolve("shm-" + round);
      try (MappedMemory memory = MappedMemory.create(file, CountingWriter.REGION)) {
        Process target = ShmPeerProcess.start(shared, file.toString(), "target");
        try (BufferedReader endpoints = lines(target)) {
          peer = ShmPeerProcess.start(shared, endpoints.readLine(), "deaf");
          ByteBuffer region = memory.slice(0, CountingWriter.REGION);
          side.pollUntil("its writes", () -> region.getLong(0) > 2);
          ShmPeerProcess.freeze(peer);
        } finally {
          target.destroyForcibly().waitFor();
        }
        startAgainAndCompare(shared, memory.slice(0, CountingWriter.REGION), round % 2 == 0);
      }
    }
  }

  private void startAgainAndCompare(Path shared, ByteBuffer region, boolean asks) throws Exception {
    if (asks) {
      assertThat(ShmTransport.hasFormerPeers(shared)).isTrue();
    } else {
      ShmTransport.create(shared).close();
    }
    ByteBuffer copy = copyFromTheEnd(region);
    ShmPeerProcess.goOn(peer);
    long[] counted;
    try (BufferedReader reports = lines(peer)) {
      long start = System.nanoTime();
      while (!reports.ready() && System.nanoTime() - start < DEAF_MS * 1_000_000L) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      }
      peer.getOutputStream().write('\n');
      peer.getOutputStream().flush();
      counted = CountingWriter.parse(reports.readLine());
      assertThat(peer.waitFor()).isZero();
    }
    assertThat(counted[0]).isPositive();
    assertCounts(counted, copy);
    assertThat(ShmTransport.hasFormerPeers(shared)).isFalse();
  }

  private static BufferedReader lines(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  private static ByteBuffer copyFromTheEnd(ByteBuffer region) {
    ByteBuffer copy = ByteBuffer.allocate(CountingWriter.REGION).order(region.order());
    for (int block = CountingWriter.BLOCKS - 1; block >= 0; block--) {
      int at = block * CountingWriter.BLOCK;
      copy.put(at, region, at, CountingWriter.BLOCK);
    }
    return copy;
  }

  private static void assertCounts(long[] counted, ByteBuffer copy) {
    for (int at = 0; at < CountingWriter.REGION; at += CountingWriter.STRIDE) {
      assertThat(copy.getLong(at))
          .as("byte %s of the copy; counted by block %s", at, Arrays.toString(counted))
          .isGreaterThanOrEqualTo(counted[at / CountingWriter.BLOCK]);
    }
  }

  @Test
  void shouldRemoveWhatADeadProcessLeft() throws Exception {
    peer = ShmPeerProcess.start(directory);
    Path endpoint;
    try (BufferedReader lines = lines(peer)) {
      endpoint = Path.of(lines.readLine());
    }
    ShmDirectory.removeStale(directory);
    assertThat(endpoint).exists();
    peer.destroyForcibly().waitFor();
    assertThat(endpoint).exists();
    Path own = Path.of(listener.endpoint());
    new ShmSide(directory).close();
    assertThat(endpoint.getParent()).doesNotExist();
    assertThat(own).exists();
    // The endpoint's name can be used again, even if the socket file itself remained.
    Files.createDirectory(endpoint.getParent());
    side.transport.listen(endpoint.toString(), side).close();
  }

  private byte[] mark() {
    byte[] marked = new byte[ShmSide.REGION];
    Arrays.fill(marked, (byte) 0x5a);
    side.region.buffer().put(marked);
    return marked;
  }

  private void assertRegionIs(byte[] expected) {
    assertThat(side.region.buffer().mismatch(ByteBuffer.wrap(expected))).isEqualTo(-1);
  }
}
