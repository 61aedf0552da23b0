package io.takofs.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.FailingAcceptor;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The control socket: peers that speak something else, lie, or say nothing. */
@Timeout(60)
class ShmHandshakeTest {
  private static final int LAYOUT_HASH_OFFSET = 8;

  @TempDir Path directory;

  private ShmSide server;
  private ShmSide client;
  private Transport.Listener listener;

  @BeforeEach
  void open() throws IOException {
    server = new ShmSide(directory.resolve("server"));
    client = new ShmSide(directory.resolve("client"));
    listener = server.transport.listen("", server);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /** Sends raw bytes and returns the answer; null if the socket just ends. */
  private Offer exchange(ByteBuffer request) throws IOException {
    try (SocketChannel channel =
        SocketChannel.open(UnixDomainSocketAddress.of(listener.endpoint()))) {
      channel.write(request);
      ByteBuffer answer = ByteBuffer.allocate(Offer.SIZE_MAX);
      while (channel.read(answer) >= 0) {
        if (answer.position() >= 4 && answer.position() >= 4 + answer.getInt(0)) {
          byte[] content = new byte[answer.getInt(0)];
          answer.get(4, content);
          return Offer.decode(content);
        }
      }
      return null;
    }
  }

  private void assertStillServing() throws IOException {
    QueuePair pair = client.connect(listener.endpoint());
    assertThat(pair.state()).isEqualTo(QueuePair.State.CONNECTED);
    pair.close();
  }

  private Offer offer(String domain, String doorbell, String inbox) {
    return new Offer("", 1, domain, doorbell, inbox, 0, 16, new byte[0]);
  }

  @Test
  void shouldRefuseGarbageAndGoOn() throws IOException {
    Random random = new Random(7);
    for (int i = 0; i < 200; i++) {
      byte[] garbage = new byte[4 + random.nextInt(200)];
      random.nextBytes(garbage);
      ByteBuffer request = ByteBuffer.wrap(garbage);
      if (i % 2 == 0) {
        request.putInt(0, garbage.length - 4); // well framed, at least
      }
      if (i % 4 == 0) {
        ByteBuffer real = offer("a", "b", "c").encode();
        real.get(0, garbage, 0, Math.min(garbage.length, 16));
        request.putInt(0, garbage.length - 4);
      }
      int length = request.getInt(0);
      if (length > garbage.length - 4 && length <= Offer.SIZE_MAX - 4) {
        continue; // The listener would wait for the rest.
      }
      Offer answer = exchange(request);
      assertThat(answer == null || answer.isRefusal()).isTrue();
    }
    assertThat(server.accepted).isEmpty();
    assertStillServing();
  }

  @Test
  void shouldRefuseAnotherLayout() throws IOException {
    ByteBuffer request = offer("a", "b", "c").encode();
    request.putLong(LAYOUT_HASH_OFFSET, request.getLong(LAYOUT_HASH_OFFSET) + 1);
    assertThat(exchange(request).refusal()).contains("layout").contains("same release");
  }

  @Test
  void shouldRefuseFilesThatAreNotThere() throws IOException {
    assertThat(exchange(offer("/nowhere", "/nowhere", "/nowhere").encode()).refusal())
        .contains("/nowhere");
    assertThat(exchange(offer(directory + "\0x", "", "").encode()).refusal())
        .contains("impossible");
    assertStillServing();
  }

  @Test
  void shouldRefuseNamesThatAreTooLongForAPath() throws IOException {
    String name = "/" + "x".repeat(4095);
    List<Offer> offers =
        List.of(
            offer(name, "", ""),
            offer("/nowhere", name, ""),
            offer("/nowhere", "/nowhere", name),
            offer("/nowhere", "/nowhere", "\u00e9".repeat(2048)));
    for (Offer each : offers) {
      assertThat(exchange(each.encode()).refusal()).contains("impossible");
    }
    assertStillServing();
  }

  @Test
  void shouldRefuseAndForgetWhatItFailsToConnect() throws IOException {
    QueuePairConfig impossible =
        new QueuePairConfig(
            server.domain, server.queue, server.queue, Layout.SHM_QUEUE_DEPTH_MAX + 1, 1);
    FailingAcceptor acceptor = new FailingAcceptor(impossible);
    String endpoint = server.transport.listen("", acceptor).endpoint();
    assertThatThrownBy(() -> client.connect(endpoint)).hasMessageContaining("server failed");
    assertThat(acceptor.open()).isEqualTo(0);

    FailingAcceptor refusing = new FailingAcceptor(null);
    String other = server.transport.listen("", refusing).endpoint();
    assertThatThrownBy(() -> client.connect(other)).hasMessageContaining("server failed");
    assertStillServing();
  }

  @Test
  void shouldEndAConnectionThatTheAcceptorCannotTake() throws IOException {
    FailingAcceptor acceptor = new FailingAcceptor(server.config());
    String endpoint = server.transport.listen("", acceptor).endpoint();
    assertThatThrownBy(() -> client.connect(endpoint)).hasMessageContaining("closed");
    client.pollUntil("the end of the connection", () -> acceptor.open() == 0);
    assertStillServing();
  }

  @Test
  void shouldRefuseInboxesThatAreTooShort() throws IOException {
    Path domain = Files.createDirectory(directory.resolve("domain"));
    MappedMemory.allocate(domain.resolve(ExportTable.FILE_NAME), ExportTable.SIZE);
    Path doorbell = directory.resolve("doorbell");
    MappedMemory.allocate(doorbell, 4096);
    Path inbox = directory.resolve("inbox");
    MappedMemory.allocate(inbox, 100);
    Offer offer = offer(domain.toString(), doorbell.toString(), inbox.toString());
    assertThat(exchange(offer.encode()).refusal()).contains(inbox.toString()).contains("shorter");
    assertThat(server.accepted).isEmpty();
  }

  @Test
  void shouldMapOnlyFilesOfThePeersUser() throws IOException {
    Path domain = Files.createDirectory(directory.resolve("foreign"));
    Path table = domain.resolve(ExportTable.FILE_NAME);
    MappedMemory.allocate(table, ExportTable.SIZE);
    try {
      Files.setAttribute(table, "unix:uid", 65534);
    } catch (IOException e) {
      Assumptions.abort("needs the right to give files away: " + e.getMessage());
    }
    Offer offer = offer(domain.toString(), table.toString(), table.toString());
    assertThat(exchange(offer.encode()).refusal())
        .contains(table.toString())
        .contains("belongs to");
  }

  @Test
  void shouldServeOthersWhileAPeerSaysNothing() throws IOException {
    try (SocketChannel silent =
        SocketChannel.open(UnixDomainSocketAddress.of(listener.endpoint()))) {
      silent.write(ByteBuffer.wrap(new byte[] {0, 0}));
      assertStillServing();
    }
    assertStillServing();
  }

  @Test
  void shouldEndConnectionsThatAreBeingMadeWhenItCloses() throws IOException {
    try (SocketChannel silent =
        SocketChannel.open(UnixDomainSocketAddress.of(listener.endpoint()))) {
      silent.write(ByteBuffer.wrap(new byte[] {0, 0}));
      assertStillServing(); // so the earlier connection is accepted
      server.transport.close();
      assertThat(silent.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
  }

  @Test
  void shouldNameAnEndpointThatDoesNotAnswer() throws IOException {
    Path mute = directory.resolve("mute");
    try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.bind(UnixDomainSocketAddress.of(mute));
      long timeoutNs = TimeUnit.MILLISECONDS.toNanos(50);
      assertThatThrownBy(
              () ->
                  client.transport.connect(
                      mute.toString(), client.config(), new byte[0], timeoutNs))
          .isInstanceOf(TakoException.class)
          .hasMessageContaining(mute.toString())
          .hasFieldOrPropertyWithValue("status", Status.DEADLINE_EXCEEDED);
    }
  }

  @Test
  void shouldRefuseToListenWhereSomethingElseIs() throws IOException {
    assertThatThrownBy(() -> server.transport.listen(listener.endpoint(), server))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("another process listens there");
    Path file = Files.writeString(directory.resolve("file"), "precious");
    assertThatThrownBy(() -> server.transport.listen(file.toString(), server))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("not a socket");
    assertThat(file).hasContent("precious");
    Path far = directory.resolve("x".repeat(200));
    assertThatThrownBy(() -> server.transport.listen(far.toString(), server))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(far.toString());
  }
}
