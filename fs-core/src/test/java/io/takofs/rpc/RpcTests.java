package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.GetFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The contract of calls, tested over each transport by a small subclass. */
@Timeout(120)
abstract class RpcTests {
  static final long LONG_NS = TimeUnit.SECONDS.toNanos(60);

  Transport serving;
  Transport calling;
  EchoServer server;
  RpcClient client;

  /** Makes both sides' transports; they may be the same object. */
  abstract void createTransports() throws IOException;

  /** The server's endpoint. */
  abstract String listenEndpoint();

  @BeforeEach
  void start() throws IOException {
    createTransports();
    server = new EchoServer(serving, listenEndpoint());
    client = connect();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
    calling.close();
    serving.close();
  }

  RpcClient connect() throws IOException {
    return connect(ConnectionKind.RPC);
  }

  private RpcClient connect(ConnectionKind kind) throws IOException {
    RpcTarget target = new RpcTarget(kind, server.endpoint(), "echo", 0);
    return RpcClient.connect(calling, target, LONG_NS, Clock.SYSTEM);
  }

  static Request request(String path) {
    return Request.newBuilder().setGetFile(GetFile.newBuilder().setPath(path)).build();
  }

  static Reply call(RpcClient client, String path, long timeoutNs) throws TakoException {
    return client.call(11, 5, request(path), System.nanoTime() + timeoutNs);
  }

  static void await(BooleanSupplier condition) {
    await(condition, () -> "still waiting");
  }

  static void await(BooleanSupplier condition, Supplier<String> what) {
    long deadline = System.nanoTime() + LONG_NS;
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as(what.get()).isLessThan(0);
      LockSupport.parkNanos(20_000);
    }
  }

  @Test
  void shouldAnswerCalls() throws Exception {
    for (int i = 0; i < 1000; i++) {
      assertThat(call(client, "/file" + i, LONG_NS).getMessage()).isEqualTo("/file" + i);
    }
    assertThat(client.epoch()).isEqualTo(EchoServer.EPOCH);
    assertThat(server.rpc.connections()).hasSize(1);
    assertThat(server.rpc.connections().get(0).calls()).isEqualTo(1000);
  }

  @Test
  void shouldServeMoreCallersThanSlots() throws Exception {
    int callers = 96;
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    try {
      List<Future<Integer>> results = new ArrayList<>();
      for (int caller = 0; caller < callers; caller++) {
        String name = "/caller" + caller + "/" + "x".repeat(caller * 17) + "/";
        Callable<Integer> calls =
            () -> {
              int right = 0;
              for (int i = 0; i < 100; i++) {
                right += call(client, name + i, LONG_NS).getMessage().equals(name + i) ? 1 : 0;
              }
              return right;
            };
        results.add(threads.submit(calls));
      }
      for (Future<Integer> result : results) {
        assertThat(result.get()).isEqualTo(100);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void shouldHandCallsToTheHandlerOfTheirKind() throws Exception {
    try (RpcClient control = connect(ConnectionKind.CONTROL)) {
      assertThat(call(control, "echo", LONG_NS).getMessage()).isEqualTo("over CONTROL");
      assertThat(call(client, "echo", LONG_NS).getMessage()).isEqualTo("echo");
    }
  }

  @Test
  void shouldRefuseAConnectionOfAKindThatNobodyHandles() {
    byte[] hello = ConnectionInfo.ours(ConnectionKind.SERVER.code, 0, 0, 0, 0).pack();
    assertThatThrownBy(() -> server.rpc.acceptor().onConnect("a server", hello))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNSUPPORTED))
        .hasMessageContaining("a server asks for a connection of kind SERVER");
    byte[] unknown = ConnectionInfo.ours(99, 0, 0, 0, 0).pack();
    assertThatThrownBy(() -> server.rpc.acceptor().onConnect("a server", unknown))
        .hasMessageContaining("unknown connection kind 99");
  }

  @Test
  void shouldKeepToTheSizesOfAKind() throws Exception {
    try (RpcClient control = connect(ConnectionKind.CONTROL)) {
      TakoException large =
          catchThrowableOfType(
              () -> call(control, "x".repeat(Layout.CONTROL_SLOT_SIZE), LONG_NS),
              TakoException.class);
      assertThat(large.status()).isEqualTo(Status.INVALID_ARGUMENT);
      assertThat(large.getMessage()).contains("at most " + Layout.CONTROL_SLOT_SIZE);
      Reply reply = call(control, "large", LONG_NS);
      assertThat(reply.getStatus()).isEqualTo(Status.INTERNAL);
      assertThat(reply.getMessage()).contains("a slot has " + Layout.CONTROL_SLOT_SIZE);
    }
  }

  @Test
  void shouldCarryAsManyCallsAtATimeAsAKindHasSlots() throws Exception {
    try (RpcClient control = connect(ConnectionKind.CONTROL)) {
      long deadline = System.nanoTime() + LONG_NS;
      Queue<String> answers = new ConcurrentLinkedQueue<>();
      for (int i = 0; i < Layout.CONTROL_SLOTS + 2; i++) {
        control.call(11, 5, request("hold" + i), deadline, gather(answers, new AtomicInteger()));
      }
      await(() -> server.heldCount() == Layout.CONTROL_SLOTS);
      assertThat(call(client, "/a", LONG_NS).getMessage()).isEqualTo("/a");
      assertThat(server.heldCount()).isEqualTo(Layout.CONTROL_SLOTS);
      await(
          () -> {
            server.release();
            control.poll();
            return answers.size() == Layout.CONTROL_SLOTS + 2;
          });
    }
  }

  private static ReplyHandler gather(Queue<String> answers, AtomicInteger failures) {
    return new ReplyHandler() {
      @Override
      public void onReply(Reply reply) {
        answers.add(reply.getMessage());
      }

      @Override
      public void onFailure(TakoException failure) {
        failures.incrementAndGet();
      }
    };
  }

  @Test
  void shouldNameServerAndOperationWhenTheDeadlinePasses() {
    TakoException late =
        catchThrowableOfType(() -> call(client, "hold", 20_000_000), TakoException.class);
    assertThat(late.status()).isEqualTo(Status.DEADLINE_EXCEEDED);
    assertThat(late.getMessage()).contains("echo").contains("GET_FILE").contains(" ms");
  }

  @Test
  void shouldNotReuseTheSlotOfALateCallBeforeItsReplyCame() throws Exception {
    for (int i = 0; i < Layout.RPC_SLOTS - 1; i++) {
      String path = "hold" + i;
      assertThatThrownBy(() -> call(client, path, 1_000_000)).isInstanceOf(TakoException.class);
    }
    await(() -> server.heldCount() == Layout.RPC_SLOTS - 1);
    // One slot is left and is enough.
    for (int i = 0; i < 100; i++) {
      assertThat(call(client, "/a" + i, LONG_NS).getMessage()).isEqualTo("/a" + i);
    }
    assertThatThrownBy(() -> call(client, "hold", 1_000_000)).isInstanceOf(TakoException.class);
    await(() -> server.heldCount() == Layout.RPC_SLOTS);
    // None is left.
    TakoException full =
        catchThrowableOfType(() -> call(client, "/b", 20_000_000), TakoException.class);
    assertThat(full.status()).isEqualTo(Status.DEADLINE_EXCEEDED);

    server.release();
    for (int i = 0; i < 2 * Layout.RPC_SLOTS; i++) {
      assertThat(call(client, "/c" + i, LONG_NS).getMessage()).isEqualTo("/c" + i);
    }
  }

  @Test
  void shouldFailAllCallsAtOnceWhenTheConnectionEnds() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(80);
    try {
      List<Future<Reply>> results = new ArrayList<>();
      for (int i = 0; i < 80; i++) {
        results.add(threads.submit(() -> call(client, "hold", LONG_NS)));
      }
      await(() -> server.heldCount() == Layout.RPC_SLOTS);
      server.rpc.close();
      for (Future<Reply> result : results) {
        assertThatThrownBy(result::get)
            .isInstanceOf(ExecutionException.class)
            .satisfies(
                e ->
                    assertThat(((TakoException) e.getCause()).status())
                        .isEqualTo(Status.DISCONNECTED));
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(client.isConnected()).isFalse();
    TakoException after =
        catchThrowableOfType(() -> call(client, "/a", LONG_NS), TakoException.class);
    assertThat(after.status()).isEqualTo(Status.DISCONNECTED);
    assertThat(after.getMessage()).contains("echo");
  }

  @Test
  void shouldEndCallsWhenTheClientCloses() throws Exception {
    ExecutorService threads = Executors.newSingleThreadExecutor();
    try {
      Future<Reply> result = threads.submit(() -> call(client, "hold", LONG_NS));
      await(() -> server.heldCount() == 1);
      client.close();
      assertThatThrownBy(result::get).hasMessageContaining("closed");
    } finally {
      threads.shutdownNow();
    }
    await(() -> server.rpc.connections().isEmpty());
    server.release();
  }

  @Test
  void shouldRefuseARequestThatFitsNoSlotAndGoOn() throws Exception {
    TakoException large =
        catchThrowableOfType(
            () -> call(client, "x".repeat(Layout.RPC_REQUEST_SLOT_SIZE), LONG_NS),
            TakoException.class);
    assertThat(large.status()).isEqualTo(Status.INVALID_ARGUMENT);
    int most = Layout.RPC_REQUEST_SLOT_SIZE - Layout.RPC_HEADER_SIZE - 16;
    String path = "y".repeat(most);
    assertThat(call(client, path, LONG_NS).getMessage()).isEqualTo(path);
  }

  @Test
  void shouldSayThatAReplyIsTooLarge() throws Exception {
    Reply reply = call(client, "large", LONG_NS);
    assertThat(reply.getStatus()).isEqualTo(Status.INTERNAL);
    assertThat(call(client, "/a", LONG_NS).getMessage()).isEqualTo("/a");
  }

  @Test
  void shouldEndTheConnectionWhoseCallBreaksTheServerAndGoOn() throws Exception {
    for (int i = 0; i < 3; i++) {
      try (RpcClient unlucky = connect()) {
        TakoException failure =
            catchThrowableOfType(
                () -> call(unlucky, "break", 10_000_000_000L), TakoException.class);
        assertThat(failure.status()).isEqualTo(Status.DISCONNECTED);
      }
      assertThat(call(client, "/a", LONG_NS).getMessage()).isEqualTo("/a");
    }
    await(() -> server.rpc.connections().size() == 1);
  }

  @Test
  void shouldKeepAnInterruptForTheCaller() throws Exception {
    Thread.currentThread().interrupt();
    assertThat(call(client, "/a", LONG_NS).getMessage()).isEqualTo("/a");
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void shouldCallAsynchronously() throws Exception {
    ConcurrentLinkedQueue<String> replies = new ConcurrentLinkedQueue<>();
    AtomicInteger failures = new AtomicInteger();
    ReplyHandler handler = gather(replies, failures);
    for (int i = 0; i < 200; i++) {
      client.call(11, i, request("/a" + i), System.nanoTime() + LONG_NS, handler);
    }
    await(
        () -> {
          client.poll();
          return replies.size() == 200;
        });
    assertThat(failures).hasValue(0);

    client.call(11, 300, request("hold"), System.nanoTime(), handler);
    client.expire();
    assertThat(failures).hasValue(1);
    for (int i = 0; i < 100; i++) {
      client.call(11, i, request("hold"), System.nanoTime() + LONG_NS, handler);
    }
    client.close();
    assertThat(failures).hasValue(101);
  }

  // ---- hostile peers ----------------------------------------------------------------------------

  @Test
  void shouldRefuseAnotherVersionSayingBoth() {
    byte[] hello = new ConnectionInfo(9, Layout.CONNECTION_RPC, 0x1234, 0, 0, 0, 0).pack();
    assertThatThrownBy(() -> server.rpc.acceptor().onConnect("old client", hello))
        .hasMessageContaining("old client speaks protocol 9 with layout 0000000000001234")
        .hasMessageContaining("protocol " + Layout.PROTOCOL_VERSION)
        .hasMessageContaining(Long.toHexString(Layout.LAYOUT_HASH));
    assertThatThrownBy(() -> server.rpc.acceptor().onConnect("stranger", new byte[3]))
        .hasMessageContaining("stranger sent 3 bytes");
  }

  /** Each entry is one way to break the rules; each must end that connection and nothing else. */
  @Test
  void shouldEndTheConnectionOfAPeerThatBreaksTheRules() throws Exception {
    List<Consumer<RawPeer>> attacks =
        List.of(
            peer -> peer.send(peer.slotAddress(0), peer.server.rkey(), 64, imm(2, 1, 0, 64)),
            peer -> peer.send(peer.slotAddress(0), peer.server.rkey(), 64, imm(1, 1, 0, 64) | 1),
            peer -> sendValid(peer, 0, 2),
            peer -> sendValid(peer, Layout.RPC_SLOTS, 1),
            peer -> corrupt(peer, Layout.RPC_HEADER_CRC32C_OFFSET),
            peer -> corrupt(peer, Layout.RPC_HEADER_LENGTH_OFFSET),
            peer -> corrupt(peer, Layout.RPC_HEADER_CLIENT_ID_OFFSET),
            peer -> corrupt(peer, Layout.RPC_HEADER_SIZE + 3),
            peer -> peer.send(peer.slotAddress(0), peer.server.rkey(), 8, imm(1, 1, 0, 8)),
            peer -> {
              // Twice into one slot before the reply: the second breaks the rule.
              hold(peer, 1);
              hold(peer, 2);
            },
            peer -> peer.send(peer.slotAddress(0), peer.server.rkey() + 77, 64, imm(1, 1, 0, 64)),
            peer -> peer.send(peer.slotAddress(-1), peer.server.rkey(), 64, imm(1, 1, 0, 64)),
            peer ->
                peer.send(
                    peer.slotAddress(Layout.RPC_SLOTS) - 32,
                    peer.server.rkey(),
                    64,
                    imm(1, 1, 0, 64)));
    for (int i = 0; i < attacks.size(); i++) {
      try (RawPeer peer = new RawPeer(calling, server.endpoint())) {
        attacks.get(i).accept(peer);
        int attack = i;
        await(
            () -> {
              peer.answered();
              return server.rpc.connections().size() == 1;
            },
            () -> "attack " + attack + " left the connection alive");
      }
      assertThat(call(client, "/a" + i, LONG_NS).getMessage()).isEqualTo("/a" + i);
    }
  }

  @Test
  void shouldEndTheConnectionOfAMessageForAnotherIncarnation() throws Exception {
    RawPeer peer = new RawPeer(calling, server.endpoint());
    int size = RpcMessage.encode(peer.message(), 11, 5, EchoServer.EPOCH - 1, request("/x"));
    peer.send(peer.slotAddress(0), peer.server.rkey(), size, imm(Immediate.REQUEST, 1, 0, size));
    await(() -> !peer.isConnected(), () -> "still connected");
    assertThat(peer.answered()).isZero();
    peer.close();
  }

  @Test
  void shouldSurviveRandomMutationsOfValidMessages() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int ended = 0;
    RawPeer peer = new RawPeer(calling, server.endpoint());
    int[] generations = new int[Layout.RPC_SLOTS];
    int sent = 0;
    for (int i = 0; i < fuzzCases(); i++) {
      int slot = random.nextInt(Layout.RPC_SLOTS);
      mutate(peer, random, slot, generations[slot] + 1);
      sent++;
      generations[slot]++;
      RawPeer current = peer;
      int expected = sent;
      await(
          () -> current.answered() == expected || !current.isConnected(),
          () -> "neither answer nor end");
      if (!peer.isConnected()) {
        peer.close();
        ended++;
        sent = 0;
        generations = new int[Layout.RPC_SLOTS];
        await(() -> server.rpc.connections().size() == 1);
        peer = new RawPeer(calling, server.endpoint());
      }
      if (i % 50 == 0) {
        assertThat(call(client, "/a" + i, LONG_NS).getMessage()).isEqualTo("/a" + i);
      }
    }
    peer.close();
    // Both kinds of cases must have been there for this to mean anything.
    assertThat(ended).isBetween(fuzzCases() / 20, fuzzCases() * 19 / 20);
    assertThat(client.isConnected()).isTrue();
  }

  /** Cases of the fuzz test; each ended connection costs a new one. */
  int fuzzCases() {
    return Integer.getInteger("tako.test.fuzz.cases", 1000);
  }

  /** A valid message with something changed; half of the time with the CRC made right again. */
  private static void mutate(RawPeer peer, Random random, int slot, int generation) {
    byte[] text = new byte[random.nextInt(60)];
    random.nextBytes(text);
    Request valid = request("/fuzz" + new String(text, StandardCharsets.ISO_8859_1));
    ByteBuffer bytes = peer.message();
    int size = RpcMessage.encode(bytes, 11, 5, EchoServer.EPOCH, valid);
    int changes = random.nextInt(4);
    for (int change = 0; change < changes; change++) {
      int at = Layout.RPC_HEADER_SIZE + random.nextInt(size - Layout.RPC_HEADER_SIZE);
      bytes.put(at, (byte) random.nextInt());
    }
    if (random.nextInt(20) > 0) {
      new RpcHeader().wrap(bytes).seal(size - Layout.RPC_HEADER_SIZE, 11, 5, EchoServer.EPOCH);
    }
    int immediate = imm(Immediate.REQUEST, generation, slot, size);
    if (random.nextInt(20) == 0) {
      immediate ^= 1 << random.nextInt(32);
    }
    peer.send(peer.slotAddress(slot), peer.server.rkey(), size, immediate);
  }

  private static int imm(int kind, int generation, int slot, int length) {
    return Immediate.pack(kind, generation, slot, length);
  }

  private static void sendValid(RawPeer peer, int slot, int generation) {
    int size = RpcMessage.encode(peer.message(), 11, 5, EchoServer.EPOCH, request("/x"));
    peer.send(
        peer.slotAddress(0),
        peer.server.rkey(),
        size,
        imm(Immediate.REQUEST, generation, slot, size));
  }

  private static void hold(RawPeer peer, int generation) {
    int size = RpcMessage.encode(peer.message(), 11, 5, EchoServer.EPOCH, request("hold"));
    peer.send(
        peer.slotAddress(0), peer.server.rkey(), size, imm(Immediate.REQUEST, generation, 0, size));
  }

  private static void corrupt(RawPeer peer, int offset) {
    int size = RpcMessage.encode(peer.message(), 11, 5, EchoServer.EPOCH, request("/x"));
    peer.message().put(offset, (byte) (peer.message().get(offset) ^ 4));
    peer.send(peer.slotAddress(0), peer.server.rkey(), size, imm(Immediate.REQUEST, 1, 0, size));
  }
}
