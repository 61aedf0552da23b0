package io.takofs.transport.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections through the connection manager of a real RDMA device; bin/vm has one. */
@Tag("verbs")
class VerbsConnectionTest {
  private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(700);

  private Peer server;
  private Peer client;
  private VerbsListener listener;

  @BeforeAll
  static void needDevice() {
    Device.assumePresent();
  }

  @BeforeEach
  void open() throws IOException {
    server = new Peer();
    client = new Peer();
    listener = server.listen();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static byte[] full(int length, int fill) {
    byte[] data = new byte[length];
    Arrays.fill(data, (byte) fill);
    return data;
  }

  @Test
  void shouldCarryPrivateDataBothWays() throws Exception {
    server.answer = full(VerbsControl.ACCEPT_DATA_MAX, 'b');
    byte[] question = full(VerbsControl.REQUEST_DATA_MAX, 'a');
    try (VerbsConnection connection = client.resolve(listener.address())) {
      byte[] answered = connection.connect(question, Peer.TIMEOUT_NS);
      assertThat(answered).startsWith(server.answer);
      assertThat(server.nextHeard()).isEqualTo("request " + new String(question, UTF_8));
      assertThat(server.nextHeard()).isEqualTo("established");
      VerbsConnection accepted = server.nextRequest();
      assertThat(connection.remoteAddress()).isEqualTo(listener.address());
      assertThat(accepted.localAddress()).isEqualTo(listener.address());
      assertThat(accepted.remoteAddress().getAddress()).isEqualTo(client.control.address());
      assertThat(connection.queuePair()).isNotZero().isNotEqualTo(accepted.queuePair());
    }
  }

  @Test
  void shouldHearThatThePeerDisconnected() throws Exception {
    VerbsConnection connection = client.resolve(listener.address());
    connection.connect(new byte[0], Peer.TIMEOUT_NS);
    assertThat(server.nextHeard()).isEqualTo("request");
    assertThat(server.nextHeard()).isEqualTo("established");
    connection.close();
    assertThat(server.nextHeard())
        .isEqualTo("disconnected: the peer closed the connection or died");
    assertThat(client.heard).isEmpty();
    assertThat(connection.queuePair()).isZero();
    server.nextRequest().close();
  }

  @Test
  void shouldHearThatTheServerDisconnected() throws Exception {
    VerbsConnection connection = client.resolve(listener.address());
    connection.connect(new byte[0], Peer.TIMEOUT_NS);
    server.nextRequest().disconnect();
    assertThat(client.nextHeard()).startsWith("disconnected: ");
    connection.disconnect();
    connection.disconnect(); // harmless
    connection.close();
  }

  @Test
  void shouldSayWhyThePeerRefused() throws Exception {
    server.refuses = true;
    server.answer = full(VerbsControl.REJECT_DATA_MAX, 'n');
    VerbsConnection connection = client.resolve(listener.address());
    assertThatThrownBy(() -> connection.connect(new byte[0], Peer.TIMEOUT_NS))
        .isInstanceOfSatisfying(
            VerbsRejectedException.class,
            e -> assertThat(e.privateData()).startsWith(server.answer));
    connection.close();
  }

  @Test
  void shouldSayThatNobodyListens() throws Exception {
    InetSocketAddress address = listener.address();
    listener.close();
    VerbsConnection connection = client.resolve(address);
    assertThatThrownBy(() -> connection.connect(new byte[0], Peer.TIMEOUT_NS))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(VerbsControl.name(address))
        .hasMessageContaining("nobody listens");
  }

  @Test
  void shouldGiveUpAtTheDeadlineOnAnAddressThatNobodyHas() throws Exception {
    byte[] near = client.control.address().getAddress();
    near[3] = (byte) 250;
    InetSocketAddress nobody = new InetSocketAddress(InetAddress.getByAddress(near), 9);
    long start = System.nanoTime();
    assertThatThrownBy(() -> client.control.resolve(nobody, client, SHORT_NS))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(VerbsControl.name(nobody));
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void shouldGiveUpAtTheDeadlineOnAServerThatDoesNotAnswer() throws Exception {
    server.waits = true;
    VerbsConnection connection = client.resolve(listener.address());
    assertThatThrownBy(() -> connection.connect(new byte[0], SHORT_NS))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.DEADLINE_EXCEEDED));
    connection.close();
    // Nor does a server that answers at last bring the process down.
    VerbsConnection late = server.nextRequest();
    try {
      server.accept(late);
    } catch (IOException e) {
      assertThat(e).isInstanceOf(TakoException.class);
    }
    late.close();
  }

  @Test
  void shouldEndAConnectThatIsUnderWayWhenItIsClosed() throws Exception {
    server.waits = true;
    VerbsConnection connection = client.resolve(listener.address());
    Thread closer =
        new Thread(
            () -> {
              try {
                server.nextRequest();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              connection.close();
            });
    closer.start();
    assertThatThrownBy(() -> connection.connect(new byte[0], Peer.TIMEOUT_NS))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("closed");
    closer.join();
  }

  @Test
  void shouldNameTheSizeOfAQueuePairThatTheDeviceRefuses() throws Exception {
    VerbsConnection connection =
        client.control.resolve(listener.address(), client, Peer.TIMEOUT_NS);
    int tooMany = client.control.facts().maxQueuePairWork() + 1;
    assertThatThrownBy(
            () ->
                connection.createQueuePair(
                    client.domain,
                    client.completions,
                    client.completions,
                    new QueuePairCaps(tooMany, 1, 1, 0)))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("maxSends=" + tooMany);
  }

  @Test
  void shouldLeaveNothingBehindAfterManyConnections() throws Exception {
    String before = VerbsControlTest.resources();
    for (int i = 0; i < 100; i++) {
      VerbsConnection connection = client.resolve(listener.address());
      connection.connect(new byte[0], Peer.TIMEOUT_NS);
      connection.close();
      server.nextRequest().close();
    }
    assertThat(VerbsControlTest.resources()).isEqualTo(before);
  }
}
