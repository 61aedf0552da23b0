package io.takofs.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nothing that a peer sends ends more than its own connection: other clients are still served. */
@Timeout(120)
class TcpHostilePeerTest {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

  private EchoingServer server;
  private TcpTransport transport;
  private CompletionQueue queue;
  private QueuePair client;
  private int calls;

  @BeforeEach
  void connectAWellBehavedClient() throws IOException {
    server = new EchoingServer(TcpSettings.DEFAULT);
    server.open.buffer().putLong(0, 0x5ec2e7L);
    server.secret.buffer().putLong(0, 0x5ec2e7L);
    transport = new TcpTransport(TcpSettings.DEFAULT);
    ProtectionDomain domain = transport.allocateProtectionDomain();
    queue = transport.createCompletionQueue(64);
    client =
        transport.connect(
            server.endpoint(),
            new QueuePairConfig(domain, queue, queue, 8, 8),
            new byte[0],
            TIMEOUT_NS);
  }

  @AfterEach
  void close() {
    transport.close();
    server.close();
  }

  /** One call and its answer. */
  private void expectServed() {
    int number = 2 * ++calls;
    client.postReceive(number);
    client.writeWithImmediate(number, new ScatterGather(), 0, 0, number, QueuePair.SIGNALED);
    client.ring();
    int[] seen = new int[2];
    long start = System.nanoTime();
    while (seen[0] < 2) {
      queue.poll(
          (pair, id, opcode, status, byteCount, immediate) -> {
            assertThat(status).isEqualTo(CompletionStatus.SUCCESS);
            seen[0]++;
            if (opcode == Opcode.RECEIVE_IMMEDIATE) {
              seen[1] = immediate;
            }
          },
          8);
      assertThat(System.nanoTime() - start).as("no answer").isLessThan(TIMEOUT_NS);
      queue.await(TimeUnit.MILLISECONDS.toNanos(10));
    }
    assertThat(seen[1]).isEqualTo(number + 1);
    assertThat(server.open.buffer().getLong(0)).isEqualTo(0x5ec2e7L);
    assertThat(server.secret.buffer().getLong(0)).isEqualTo(0x5ec2e7L);
  }

  private Socket open() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.setSoTimeout(20_000);
    return socket;
  }

  /** A connection whose handshake is done. */
  private Socket openPair() throws IOException {
    Socket socket = open();
    socket.getOutputStream().write(hello(Layout.TCP_CONNECT, 4, 0));
    byte[] answer = socket.getInputStream().readNBytes(Layout.TCP_ANSWER_SIZE + 12);
    assertThat(answer).hasSize(Layout.TCP_ANSWER_SIZE + 12);
    return socket;
  }

  private static byte[] hello(int kind, int maxSends, int length) {
    byte[] bytes = new byte[Layout.TCP_HELLO_SIZE];
    TcpHandshake.hello(kind, maxSends, new byte[0])
        .putInt(Layout.TCP_HELLO_LENGTH_OFFSET, length)
        .get(0, bytes);
    return bytes;
  }

  private static byte[] frame(int opcode, int length, int rkey, long address) {
    byte[] bytes = new byte[Layout.TCP_FRAME_SIZE];
    new TcpFrame()
        .wrap(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), 0)
        .set(opcode, true, length, rkey, 0, address, 1, 2);
    return bytes;
  }

  /** Sends bytes, which may fail because the server has had enough of them. */
  private static void send(Socket socket, byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      assertThat(e).isInstanceOf(SocketException.class);
    }
  }

  /** Reads until the server closes; returns what it said. */
  private static byte[] expectClosed(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    byte[] said = new byte[1 << 16];
    int count = 0;
    try {
      for (int n = in.read(said); n >= 0; n = in.read(said, count, said.length - count)) {
        count += n;
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the server keeps the connection", e);
    } catch (SocketException e) {
      // Reset: closed as well.
    }
    return Arrays.copyOf(said, count);
  }

  @Test
  void shouldCutOffWhoSpeaksAnotherProtocol() throws IOException {
    try (Socket http = open()) {
      send(http, "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      expectClosed(http);
    }
    try (Socket silent = open();
        Socket partial = open()) {
      byte[] start = new byte[41];
      System.arraycopy(hello(Layout.TCP_CONNECT, 4, 0), 0, start, 0, 41);
      send(partial, start);
      expectServed();
      assertThat(silent.isConnected()).isTrue();
    }
    expectServed();
  }

  @Test
  void shouldRefuseMalformedHellosWithTheReason() throws IOException {
    byte[] otherVersion = hello(Layout.TCP_CONNECT, 4, 0);
    otherVersion[Layout.TCP_HELLO_PROTOCOL_VERSION_OFFSET] ^= 0x40;
    byte[][] hellos = {
      hello(Layout.TCP_CONNECT, 4, 57),
      hello(Layout.TCP_CONNECT, 4, -1),
      hello(Layout.TCP_CONNECT, -1, 0),
      hello(Layout.TCP_CONNECT, Integer.MAX_VALUE, 0),
      hello(77, 4, 0),
      otherVersion
    };
    String[] reasons = {"malformed", "malformed", "malformed", "malformed", "kind 77", "version"};
    for (int i = 0; i < hellos.length; i++) {
      try (Socket socket = open()) {
        send(socket, hellos[i]);
        assertThat(new String(expectClosed(socket), StandardCharsets.UTF_8)).contains(reasons[i]);
      }
      expectServed();
    }
  }

  @Test
  void shouldEndTheConnectionOfMalformedFrames() throws IOException {
    byte[] padded = frame(Layout.TCP_WRITE, 0, 0, 0);
    padded[Layout.TCP_FRAME_PADDING_OFFSET] = 1;
    byte[][] frames = {
      new byte[Layout.TCP_FRAME_SIZE],
      frame(11, 0, 0, 0),
      frame(-1, 0, 0, 0),
      frame(Layout.TCP_WRITE, -1, 0, 0),
      frame(Layout.TCP_ACKNOWLEDGE, 0, 0, 1),
      frame(Layout.TCP_ACKNOWLEDGE, 0, 0, Long.MAX_VALUE),
      frame(Layout.TCP_ACKNOWLEDGE, 0, 0, -1),
      frame(Layout.TCP_READ_RESULT, 8, 0, 1),
      frame(Layout.TCP_READ_RESULT, Integer.MAX_VALUE, 0, 0),
      frame(Layout.TCP_ATOMIC_RESULT, 0, 0, 1),
      frame(Layout.TCP_REFUSE, 0, 0, 1),
      padded
    };
    for (byte[] malformed : frames) {
      try (Socket socket = openPair()) {
        send(socket, malformed);
        expectClosed(socket);
      }
      expectServed();
    }
  }

  @Test
  void shouldRefuseAccessBeforeAnyByteLands() throws IOException {
    long address = server.open.address();
    int rkey = server.open.rkey();
    byte[][] frames = {
      frame(Layout.TCP_WRITE, Integer.MAX_VALUE, rkey, address),
      frame(Layout.TCP_WRITE, 65537, rkey, address),
      frame(Layout.TCP_WRITE, 16, rkey, Long.MIN_VALUE),
      frame(Layout.TCP_WRITE_WITH_IMMEDIATE, 16, server.secret.rkey(), server.secret.address()),
      frame(Layout.TCP_READ, Integer.MAX_VALUE, rkey, address),
      frame(Layout.TCP_READ, 16, server.secret.rkey(), server.secret.address()),
      frame(Layout.TCP_FETCH_AND_ADD, 0, rkey, address),
      frame(Layout.TCP_COMPARE_AND_SWAP, 0, rkey + 1, address)
    };
    for (byte[] forbidden : frames) {
      try (Socket socket = openPair()) {
        send(socket, forbidden);
        byte[] refusal = socket.getInputStream().readNBytes(Layout.TCP_FRAME_SIZE);
        assertThat(refusal[Layout.TCP_FRAME_OPCODE_OFFSET]).isEqualTo((byte) Layout.TCP_REFUSE);
        send(socket, new byte[100_000]);
        expectServed();
      }
    }
  }

  @Test
  void shouldSurviveTruncatedPayloads() throws IOException {
    for (int sent : new int[] {0, 1, 100, 60_000}) {
      try (Socket socket = openPair()) {
        send(
            socket, frame(Layout.TCP_WRITE, 65_000, server.open.rkey(), server.open.address() + 8));
        send(socket, new byte[sent]);
      }
      expectServed();
    }
  }

  @Test
  void shouldBreakOffWhenARegionIsClosedUnderItsPayload() throws IOException {
    MemoryRegion region = server.domain.allocate(65536, Access.REMOTE_READ_WRITE);
    ByteBuffer memory = region.buffer();
    try (Socket socket = openPair()) {
      byte[] half = new byte[30_000];
      Arrays.fill(half, (byte) 7);
      send(socket, frame(Layout.TCP_WRITE, 60_000, region.rkey(), region.address()));
      send(socket, half);
      long start = System.nanoTime();
      while (memory.get(half.length - 1) != 7) {
        assertThat(System.nanoTime() - start).as("nothing lands").isLessThan(TIMEOUT_NS);
        queue.await(TimeUnit.MILLISECONDS.toNanos(1));
      }
      region.close();
      send(socket, half);
      expectClosed(socket);
      assertThat(memory.get(half.length)).isZero();
    }
    expectServed();
  }

  @Test
  void shouldBoundWhatItKeepsForAPeerThatDoesNotRead() throws IOException {
    try (Socket socket = openPair()) {
      byte[] read = frame(Layout.TCP_READ, 65536, server.open.rkey(), server.open.address());
      byte[] many = new byte[read.length * 1000];
      for (int i = 0; i < 1000; i++) {
        System.arraycopy(read, 0, many, i * read.length, read.length);
      }
      send(socket, many); // 64 MiB of answers for a peer that said it asks for 4 at once.
      expectServed();
      socket.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
    } catch (SocketException e) {
      // Reset: closed for asking too much.
    }
    expectServed();
  }

  @Test
  void shouldSurviveRandomBytesAndMutatedFrames() throws IOException {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 150; i++) {
      try (Socket socket = random.nextBoolean() ? openPair() : open()) {
        int pieces = 1 + random.nextInt(20);
        for (int p = 0; p < pieces; p++) {
          byte[] bytes;
          if (random.nextInt(3) == 0) {
            bytes = new byte[random.nextInt(300)];
            random.nextBytes(bytes);
          } else {
            int length = random.nextInt(100);
            bytes =
                Arrays.copyOf(
                    frame(
                        random.nextInt(12),
                        length,
                        server.open.rkey(),
                        server.open.address() + 8 + random.nextInt(1000)),
                    Layout.TCP_FRAME_SIZE + random.nextInt(length + 1));
            // Never the address: what an open region allows may be overwritten, its start is
            // watched.
            bytes[random.nextInt(16)] ^= (byte) (1 << random.nextInt(8));
          }
          send(socket, bytes);
        }
      }
      if (i % 10 == 0) {
        expectServed();
      }
    }
    expectServed();
  }
}
