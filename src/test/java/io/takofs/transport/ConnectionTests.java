package io.takofs.transport;

import static io.takofs.transport.TransportHarness.TIMEOUT_NS;
import static io.takofs.transport.TransportHarness.piece;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Making connections: private data, refusals, wrong places. */
interface ConnectionTests extends HarnessedTests {
  /** The most private data a connection request carries. */
  int PRIVATE_DATA_MAX = 56;

  @Test
  default void shouldExchangePrivateData() throws IOException {
    TransportHarness h = harness();
    for (int length : new int[] {0, 1, 55, PRIVATE_DATA_MAX}) {
      byte[] request = new byte[length];
      byte[] answer = new byte[PRIVATE_DATA_MAX - length];
      new Random(length).nextBytes(request);
      new Random(length + 1).nextBytes(answer);
      AtomicReference<byte[]> seen = new AtomicReference<>();
      AtomicReference<ConnectionAcceptor.Accept> given = new AtomicReference<>();
      AtomicReference<ConnectionAcceptor.Accept> returned = new AtomicReference<>();
      ConnectionAcceptor acceptor =
          h.new Acceptor() {
            @Override
            public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
              seen.set(privateData);
              given.set(new Accept(h.server.config(), answer));
              return given.get();
            }

            @Override
            public void onConnected(QueuePair queuePair, Accept accept) {
              returned.set(accept);
              super.onConnected(queuePair, accept);
            }
          };
      try (Transport.Listener listener =
          h.server.transport.listen(h.world.listenEndpoint(), acceptor)) {
        QueuePair client =
            h.client.transport.connect(listener.endpoint(), h.client.config(), request, TIMEOUT_NS);
        h.waitUntil("the listener accepts", () -> !h.accepted.isEmpty());
        QueuePair server = h.accepted.remove();
        assertThat(seen.get()).isEqualTo(request);
        assertThat(returned.get()).isSameAs(given.get());
        assertThat(server.remotePrivateData()).isEqualTo(request);
        assertThat(client.remotePrivateData()).isEqualTo(answer);
        assertThat(client.state()).isEqualTo(QueuePair.State.CONNECTED);
        assertThat(server.state()).isEqualTo(QueuePair.State.CONNECTED);
        assertThat(client.errorText()).isEmpty();
        assertThat(client.remoteName()).isNotEmpty();
        assertThat(server.remoteName()).isNotEmpty();
      }
    }
  }

  @Test
  default void shouldPassTheReasonOfARefusalOn() throws IOException {
    TransportHarness h = harness();
    String reason = "no room for more clients: 'ü' is the last";
    ConnectionAcceptor acceptor =
        h.new Acceptor() {
          @Override
          public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
            if (Arrays.equals(privateData, "no".getBytes(StandardCharsets.UTF_8))) {
              throw new TakoException(Status.VERSION_MISMATCH, reason);
            }
            return super.onConnect(remoteName, privateData);
          }
        };
    try (Transport.Listener listener =
        h.server.transport.listen(h.world.listenEndpoint(), acceptor)) {
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(
                () ->
                    h.client.transport.connect(
                        listener.endpoint(),
                        h.client.config(),
                        "no".getBytes(StandardCharsets.UTF_8),
                        TIMEOUT_NS))
            .isInstanceOfSatisfying(
                TakoException.class,
                refused -> assertThat(refused.status()).isEqualTo(Status.VERSION_MISMATCH))
            .hasMessageContaining(reason)
            .hasMessageContaining(listener.endpoint());
      }
      h.client
          .transport
          .connect(listener.endpoint(), h.client.config(), new byte[0], TIMEOUT_NS)
          .close();
      assertThat(h.accepted).hasSize(1);
    }
  }

  @Test
  default void shouldNameTheEndpointWhereNobodyListens() throws IOException {
    TransportHarness h = harness();
    String endpoint = h.world.unreachableEndpoint();
    assertThatThrownBy(
            () -> h.client.transport.connect(endpoint, h.client.config(), new byte[0], TIMEOUT_NS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint);
  }

  @Test
  default void shouldAcceptNothingAfterTheListenerIsClosed() throws IOException {
    TransportHarness h = harness();
    Pair pair = h.connect();
    String endpoint = h.listen().endpoint();
    h.listen().close();
    assertThatThrownBy(
            () -> h.client.transport.connect(endpoint, h.client.config(), new byte[0], TIMEOUT_NS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint);
    MemoryRegion local = h.client.region(8, Access.LOCAL);
    MemoryRegion target = h.server.region(8, Access.REMOTE_READ_WRITE);
    pair.client().write(1, piece(local, 0, 8), target.address(), target.rkey(), QueuePair.SIGNALED);
    pair.client().ring();
    h.awaitSuccess(h.client);
  }

  @Test
  default void shouldServeManyPairsOnOneQueue() throws IOException {
    TransportHarness h = harness();
    h.receivesAtAccept = 2;
    List<Pair> pairs = new ArrayList<>();
    Set<Integer> numbers = new HashSet<>();
    MemoryRegion local = h.client.region(4096, Access.LOCAL);
    MemoryRegion target = h.server.region(4096, Access.REMOTE_READ_WRITE);
    for (int i = 0; i < 24; i++) {
      pairs.add(h.connect());
      assertThat(numbers.add(pairs.get(i).client().number())).isTrue();
      local.buffer().put(i, (byte) (i + 1));
    }
    for (int i = 0; i < pairs.size(); i++) {
      QueuePair queuePair = pairs.get(i).client();
      queuePair.writeWithImmediate(
          i, piece(local, i, 1), target.address() + i, target.rkey(), i, QueuePair.SIGNALED);
      queuePair.ring();
    }
    boolean[] sent = new boolean[pairs.size()];
    boolean[] received = new boolean[pairs.size()];
    for (Completion completion : h.await(h.client, pairs.size())) {
      int i = (int) completion.workRequestId();
      assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(completion.queuePair()).isSameAs(pairs.get(i).client());
      sent[i] = true;
    }
    for (Completion completion : h.await(h.server, pairs.size())) {
      int i = completion.immediate();
      assertThat(completion.queuePair()).isSameAs(pairs.get(i).server());
      received[i] = true;
    }
    for (int i = 0; i < pairs.size(); i++) {
      assertThat(sent[i] && received[i]).as("pair %s", i).isTrue();
      assertThat(target.buffer().get(i)).isEqualTo((byte) (i + 1));
    }
  }
}
