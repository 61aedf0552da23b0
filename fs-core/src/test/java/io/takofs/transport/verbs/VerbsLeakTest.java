package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.proto.GetFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.EchoServer;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Connections come and go, by the will of either side and by the death of the client, and leave
 * nothing behind: neither with the device nor in the process nor in the kernel's log.
 */
@Tag("verbs")
@Timeout(600)
class VerbsLeakTest {
  private static final int CONNECTIONS = Integer.getInteger("tako.test.connections", 200);

  /** Connections of each kind that are open at a time. */
  private static final int OPEN = 4;

  private static final int ROUNDS_BEFORE_COUNTING = 3;

  /** Rounds between two that end with the death of a client. */
  private static final int DEATH_INTERVAL = 40;

  private static final int ZONE_BYTES = 1 << 20;

  private static final Pattern KERNEL_FAULT =
      Pattern.compile("rxe|rdma|infiniband|uverbs|\\bib_|refcount|WARNING|BUG|Oops|Call Trace");

  private VerbsTransport serving;
  private VerbsTransport calling;
  private ConnectedPair pairs;
  private VerbsMemoryRegion zone;
  private MemoryRegion local;

  @BeforeAll
  static void needDevice() {
    Device.assumePresent();
  }

  @BeforeEach
  void open() throws IOException {
    serving = VerbsTransport.create(Optional.empty());
    calling = VerbsTransport.create(Optional.empty());
    pairs = new ConnectedPair(1);
    zone = (VerbsMemoryRegion) pairs.server.domain.allocate(ZONE_BYTES, Access.REMOTE_READ);
    local = pairs.client.domain.allocate(8, Access.LOCAL);
  }

  @AfterEach
  void close() {
    pairs.close();
    calling.close();
    serving.close();
  }

  @Test
  void shouldLeaveNothingBehind() throws Exception {
    Set<String> before = kernelWarnings();
    for (int i = 0; i < ROUNDS_BEFORE_COUNTING; i++) {
      connectAndDisconnect(i);
    }
    awaitDeath();
    HeldResources held = HeldResources.now();
    System.out.println(held);
    int made = 0;
    for (int round = 0; made < CONNECTIONS; round++) {
      made += connectAndDisconnect(round);
    }
    awaitHeld(held);
    assertThat(kernelWarnings()).isSubsetOf(before);
    System.out.println(made + " connections: " + HeldResources.now());
  }

  /** One round; returns how many connections it made. */
  private int connectAndDisconnect(int round) throws Exception {
    if (round % DEATH_INTERVAL == DEATH_INTERVAL / 2) {
      return awaitDeath();
    }
    boolean endedByServer = round % 2 == 0;
    connectForCalls(endedByServer);
    connectPairs(endedByServer);
    return 2 * OPEN;
  }

  /** Each connection has a protection domain and carries a call. */
  private void connectForCalls(boolean endedByServer) throws IOException {
    List<RpcClient> clients = new ArrayList<>();
    try (EchoServer server = new EchoServer(serving, "")) {
      for (int i = 0; i < OPEN; i++) {
        RpcClient client =
            RpcClient.connect(
                calling,
                new RpcTarget(ConnectionKind.RPC, server.endpoint(), "server", 0),
                ConnectedPair.TIMEOUT_NS,
                Clock.SYSTEM);
        clients.add(client);
        Request request =
            Request.newBuilder().setGetFile(GetFile.newBuilder().setPath("/file" + i)).build();
        Reply reply = client.call(0, 0, request, System.nanoTime() + ConnectedPair.TIMEOUT_NS);
        assertThat(reply.getStatus()).isEqualTo(Status.OK);
      }
      if (!endedByServer) {
        clients.forEach(RpcClient::close);
      }
    }
    clients.forEach(RpcClient::close);
  }

  /** The connections share a protection domain, and each has a window of its own. */
  private void connectPairs(boolean endedByServer) throws Exception {
    List<ConnectedPair.Ends> open = new ArrayList<>();
    for (int i = 0; i < OPEN; i++) {
      ConnectedPair.Ends ends = pairs.connect();
      open.add(ends);
      writeThroughWindow(ends);
    }
    for (ConnectedPair.Ends ends : open) {
      (endedByServer ? ends.server() : ends.client()).close();
      (endedByServer ? ends.client() : ends.server()).close();
    }
    pairs.client.drain();
    pairs.server.drain();
  }

  private void writeThroughWindow(ConnectedPair.Ends ends) throws IOException {
    VerbsMemoryWindow window = ((VerbsProtectionDomain) pairs.server.domain).allocateWindow();
    ends.server().bind(0, window, zone, 0, 4096, Access.REMOTE_READ_WRITE, QueuePair.SIGNALED);
    ends.server().ring();
    CompletionStatus bound = pairs.server.next().status();
    assertThat(bound).as(ends.server().errorText()).isEqualTo(CompletionStatus.SUCCESS);
    ends.client()
        .write(
            0,
            new ScatterGather().add(local, 0, 8),
            zone.address(),
            window.rkey(),
            QueuePair.SIGNALED);
    ends.client().ring();
    assertThat(pairs.client.next().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  /** A client process with connections of both kinds is killed, and this side learns of it. */
  private int awaitDeath() throws Exception {
    try (EchoServer server = new EchoServer(serving, "")) {
      Process process = ConnectedProcess.start(server.endpoint(), pairs.endpoint(), OPEN);
      List<VerbsQueuePair> orphans = new ArrayList<>();
      for (int i = 0; i < OPEN; i++) {
        orphans.add(pairs.nextAccepted());
      }
      process.destroyForcibly().waitFor();
      await("the server learns of the death", () -> server.rpc.connections().isEmpty());
      for (VerbsQueuePair orphan : orphans) {
        await("the pair fails", () -> orphan.state() == QueuePair.State.ERROR);
        orphan.close();
      }
    }
    pairs.server.drain();
    return 2 * OPEN;
  }

  /** Another thread may take a moment to free its resources. */
  private static void awaitHeld(HeldResources wanted) throws Exception {
    long deadline = System.nanoTime() + ConnectedPair.TIMEOUT_NS;
    while (!HeldResources.now().equals(wanted) && System.nanoTime() < deadline) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    }
    assertThat(HeldResources.now()).isEqualTo(wanted);
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + ConnectedPair.TIMEOUT_NS;
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited in vain: %s", what).isLessThan(deadline);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /**
   * Each warning and error in the kernel's log that may be about devices, once: what it said before
   * it says again.
   */
  private static Set<String> kernelWarnings() throws IOException {
    Process process =
        new ProcessBuilder("dmesg", "--notime", "--level=emerg,alert,crit,err,warn").start();
    try (BufferedReader lines = process.inputReader()) {
      return lines.lines().filter(KERNEL_FAULT.asPredicate()).collect(Collectors.toSet());
    }
  }
}
