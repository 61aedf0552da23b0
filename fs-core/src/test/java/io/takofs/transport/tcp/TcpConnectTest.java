package io.takofs.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.FailingAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connecting to what is not Tako, and peers that fall silent. */
@Timeout(120)
class TcpConnectTest {
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);

  private final TcpTransport transport =
      new TcpTransport(
          new TcpSettings(
              1, TimeUnit.MILLISECONDS.toNanos(200), TimeUnit.SECONDS.toNanos(1), false));
  private final ProtectionDomain domain = transport.allocateProtectionDomain();
  private final CompletionQueue queue = transport.createCompletionQueue(64);
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    transport.close();
    for (AutoCloseable closeable : opened) {
      closeable.close();
    }
  }

  private QueuePair connect(String endpoint, long timeoutNs) throws IOException {
    return transport.connect(
        endpoint, new QueuePairConfig(domain, queue, queue, 8, 8), new byte[0], timeoutNs);
  }

  /** A server that takes connections, answers the first bytes with {@code answer} and stays. */
  private String serve(byte[] answer, boolean close) throws IOException {
    ServerSocket listening = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    opened.add(listening);
    Thread thread =
        new Thread(
            () -> {
              while (!listening.isClosed()) {
                try {
                  Socket socket = listening.accept();
                  opened.add(socket);
                  socket.getInputStream().readNBytes(Layout.TCP_HELLO_SIZE);
                  socket.getOutputStream().write(answer);
                  if (close) {
                    socket.close();
                  }
                } catch (IOException e) {
                  return;
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
    return "127.0.0.1:" + listening.getLocalPort();
  }

  private static byte[] bytes(java.nio.ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.capacity()];
    buffer.get(0, bytes);
    return bytes;
  }

  @Test
  void shouldNameAServerOfAnotherProtocol() throws IOException {
    String endpoint =
        serve("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII), false);
    assertThatThrownBy(() -> connect(endpoint, LONG_NS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint)
        .hasMessageContaining("does not speak Tako")
        .hasMessageContaining("HTTP/1.1");
    assertThatThrownBy(() -> transport.discover(endpoint, LONG_NS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not speak Tako");
  }

  @Test
  void shouldRefuseAndForgetWhatItFailsToConnect() throws IOException {
    FailingAcceptor refusing = new FailingAcceptor(null);
    assertThatThrownBy(() -> connect(transport.listen("127.0.0.1:0", refusing).endpoint(), LONG_NS))
        .hasMessageContaining("server failed");

    FailingAcceptor broke =
        new FailingAcceptor(new QueuePairConfig(domain, queue, queue, 8, Integer.MAX_VALUE));
    assertThatThrownBy(() -> connect(transport.listen("127.0.0.1:0", broke).endpoint(), LONG_NS))
        .hasMessageContaining("server failed");
    assertThat(broke.open()).isEqualTo(0);

    FailingAcceptor confused = new FailingAcceptor(new QueuePairConfig(null, queue, queue, 8, 8));
    assertThatThrownBy(() -> connect(transport.listen("127.0.0.1:0", confused).endpoint(), LONG_NS))
        .hasMessageContaining("server failed");
    assertThat(confused.open()).isEqualTo(0);
  }

  @Test
  void shouldEndAConnectionThatTheAcceptorCannotTake() throws IOException {
    FailingAcceptor acceptor = new FailingAcceptor(new QueuePairConfig(domain, queue, queue, 8, 8));
    String endpoint = transport.listen("127.0.0.1:0", acceptor).endpoint();
    assertThatThrownBy(() -> connect(endpoint, LONG_NS)).isInstanceOf(IOException.class);
    long start = System.nanoTime();
    while (acceptor.open() > 0) {
      assertThat(System.nanoTime() - start).as("still open").isLessThan(LONG_NS);
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void shouldNameAServerThatSaysNothing() throws IOException {
    String endpoint = serve(new byte[0], false);
    assertThatThrownBy(() -> connect(endpoint, TimeUnit.MILLISECONDS.toNanos(50)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint)
        .hasMessageContaining("said nothing for 50 ms");
  }

  @Test
  void shouldNameAServerThatHangsUp() throws IOException {
    String endpoint = serve(new byte[0], true);
    assertThatThrownBy(() -> connect(endpoint, LONG_NS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint)
        .hasMessageContaining("closed the connection before it answered");
  }

  @Test
  void shouldNameAServerOfAnotherVersion() throws IOException {
    java.nio.ByteBuffer answer = TcpHandshake.answer(Layout.TCP_ACCEPTED, 8, new byte[0]);
    answer.putInt(Layout.TCP_ANSWER_PROTOCOL_VERSION_OFFSET, 99);
    String endpoint = serve(bytes(answer), false);
    assertThatThrownBy(() -> connect(endpoint, LONG_NS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint)
        .hasMessageContaining("version 99");
  }

  @Test
  void shouldNotBelieveAnAnswerOfImpossibleLength() throws IOException {
    for (int length : new int[] {-1, Layout.TCP_ANSWER_MAX + 1, Integer.MAX_VALUE}) {
      java.nio.ByteBuffer answer = TcpHandshake.answer(Layout.TCP_ACCEPTED, 8, new byte[0]);
      answer.putInt(Layout.TCP_ANSWER_LENGTH_OFFSET, length);
      String endpoint = serve(bytes(answer), false);
      assertThatThrownBy(() -> connect(endpoint, LONG_NS))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(endpoint + " sent a malformed answer");
    }
  }

  @Test
  void shouldNameWhatIsWrongWithAnEndpoint() {
    for (String wrong : new String[] {"", "host", ":1", "127.0.0.1:", "a:b", "127.0.0.1:65536"}) {
      assertThatThrownBy(() -> connect(wrong, LONG_NS))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("'" + wrong + "' is no tcp endpoint");
    }
    assertThatThrownBy(() -> connect("no-such-host.invalid:7420", LONG_NS))
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("unknown host 'no-such-host.invalid': correct the name");
  }

  @Test
  void shouldFailOperationsOfAPeerThatFallsSilent() throws IOException {
    String endpoint = serve(bytes(TcpHandshake.answer(Layout.TCP_ACCEPTED, 8, new byte[0])), false);
    QueuePair pair = connect(endpoint, LONG_NS);
    MemoryRegion local = domain.allocate(64, Access.LOCAL);
    pair.postReceive(3);
    pair.write(1, new ScatterGather().add(local, 0, 64), 0, 0, 0);
    pair.read(2, new ScatterGather().add(local, 0, 64), 0, 0, QueuePair.SIGNALED);
    pair.ring();
    List<String> completions = new ArrayList<>();
    while (completions.size() < 3) {
      queue.await(TimeUnit.SECONDS.toNanos(1));
      queue.poll(
          (from, id, opcode, status, byteCount, immediate) -> completions.add(id + " " + status),
          8);
    }
    assertThat(completions)
        .containsExactly(
            "1 " + CompletionStatus.RETRY_EXCEEDED,
            "2 " + CompletionStatus.FLUSHED,
            "3 " + CompletionStatus.FLUSHED);
    assertThat(pair.state()).isEqualTo(QueuePair.State.ERROR);
    assertThat(pair.errorText()).contains(endpoint).contains("has not answered for 200 ms");
  }

  @Test
  void shouldNoticeAnIdlePeerThatIsGoneWithoutAWord() throws IOException {
    String endpoint = serve(bytes(TcpHandshake.answer(Layout.TCP_ACCEPTED, 8, new byte[0])), false);
    QueuePair pair = connect(endpoint, LONG_NS);
    long start = System.nanoTime();
    while (pair.state() == QueuePair.State.CONNECTED) {
      assertThat(System.nanoTime() - start).as("never noticed").isLessThan(LONG_NS);
      queue.await(TimeUnit.MILLISECONDS.toNanos(5));
    }
    assertThat(pair.errorText()).contains("has not answered");
  }

  @Test
  void shouldKeepAnIdleConnectionToALivingPeer() throws IOException {
    try (EchoingServer server = new EchoingServer(TcpSettings.DEFAULT)) {
      QueuePair pair = connect(server.endpoint(), LONG_NS);
      long start = System.nanoTime();
      while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(600)) {
        queue.await(TimeUnit.MILLISECONDS.toNanos(5));
      }
      assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
      assertThat(server.connected).hasSize(1);
    }
  }
}
