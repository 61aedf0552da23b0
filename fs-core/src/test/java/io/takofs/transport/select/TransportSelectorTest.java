package io.takofs.transport.select;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.config.TransportChoice;
import io.takofs.proto.Status;
import io.takofs.transport.HostIdentity;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.RefusingAcceptor;
import io.takofs.transport.Transport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests which transport is chosen and the reason given; only discovery connects here. */
@Timeout(60)
class TransportSelectorTest {
  private static final String NO_DEVICE = "this host has no RDMA device";
  private static final OfferedTransport VERBS = new OfferedTransport("verbs", "10.0.0.1:7", "");
  private static final OfferedTransport MOVED = new OfferedTransport("verbs", "10.0.0.1:8", "");
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

  @TempDir Path directory;
  private final TcpTransport server = new TcpTransport(TcpSettings.DEFAULT);
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(server));
  private volatile List<OfferedTransport> offers = List.of();
  private final Queue<List<OfferedTransport>> offersBefore = new ConcurrentLinkedQueue<>();
  private final Semaphore asked = new Semaphore(0);
  private String endpoint;
  private String shmEndpoint;

  @BeforeEach
  void listen() throws IOException {
    endpoint =
        server
            .listen(
                "127.0.0.1:0", new RefusingAcceptor("only discovery is tested"), this::nextOffers)
            .endpoint();
    shmEndpoint = Files.createFile(directory.resolve("endpoint")).toString();
    offers = List.of(new OfferedTransport("shm", shmEndpoint, HostIdentity.local()));
  }

  private List<OfferedTransport> nextOffers() {
    asked.release();
    List<OfferedTransport> before = offersBefore.poll();
    return before == null ? offers : before;
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable closeable : opened) {
      closeable.close();
    }
  }

  /** The candidates are other tcp transports: they are only told from the last resort. */
  private TransportSelector selector(
      TransportChoice choice, String missingMemory, String missingDevice) {
    SharedMemory memory =
        new SharedMemory() {
          @Override
          Optional<String> unavailabilityCause() {
            return Optional.ofNullable(missingMemory);
          }

          @Override
          Transport create() {
            return new TcpTransport(TcpSettings.DEFAULT);
          }
        };
    Verbs verbs =
        new Verbs("") {
          @Override
          Optional<String> unavailabilityCause() {
            return Optional.ofNullable(missingDevice);
          }

          @Override
          Transport create() {
            return new TcpTransport(TcpSettings.DEFAULT);
          }
        };
    TransportSelector selector = new TransportSelector(choice, List.of(memory, verbs));
    opened.add(selector);
    return selector;
  }

  private TransportSelector selector(TransportChoice choice, String missing) {
    return selector(choice, missing, NO_DEVICE);
  }

  private Selected<String> connect(TransportChoice choice, String missing) throws IOException {
    return connect(selector(choice, missing));
  }

  private Selected<String> connect(TransportSelector selector) throws IOException {
    return selector.connect(endpoint, TIMEOUT_NS, null, (transport, at, timeoutNs) -> at);
  }

  @Test
  void shouldEndAnAttemptToReachAServerThatIsGone() throws IOException {
    TransportSelector selector = selector(TransportChoice.VERBS, "not asked", null);
    assertGone(selector, () -> offers = List.of(MOVED));
    // The next attempt goes to the server that is there.
    assertThat(connect(selector)).isEqualTo(new Selected<>("10.0.0.1:8", "verbs: as configured"));
  }

  @Test
  void shouldTakeNoOtherTransportBecauseTheServerIsGone() throws IOException {
    TransportSelector selector = selector(TransportChoice.AUTO, "no shared memory", null);
    assertGone(selector, () -> offers = List.of(MOVED));
    assertThat(connect(selector).connection()).isEqualTo(MOVED.endpoint());
  }

  @Test
  void shouldEndAnAttemptWhenNobodyListensAnyMore() {
    assertGone(selector(TransportChoice.VERBS, "not asked", null), server::close);
  }

  /** An attempt over verbs hangs and then {@code meanwhile} happens to the server. */
  private void assertGone(TransportSelector selector, Runnable meanwhile) {
    offers = List.of(VERBS);
    assertThatThrownBy(
            () ->
                selector.connect(
                    endpoint,
                    TimeUnit.HOURS.toNanos(1),
                    null,
                    (transport, at, timeoutNs) ->
                        at.equals(VERBS.endpoint()) ? hang(meanwhile) : at))
        .isInstanceOf(ServerGoneException.class)
        .hasMessage("the server at 10.0.0.1:7 is gone");
  }

  @Test
  void shouldLetASlowAttemptToALivingServerGoOn() throws IOException {
    offers = List.of(VERBS);
    TransportSelector selector = selector(TransportChoice.VERBS, "not asked", null);
    Selected<String> made =
        selector.connect(
            endpoint,
            TIMEOUT_NS,
            null,
            (transport, at, timeoutNs) -> {
              askedTwiceMore();
              return at;
            });
    assertThat(made.connection()).isEqualTo("10.0.0.1:7");
  }

  /** Waits until the server was asked twice while the attempt is under way. */
  private void askedTwiceMore() throws IOException {
    asked.drainPermits();
    try {
      assertThat(asked.tryAcquire(2, TIMEOUT_NS, TimeUnit.NANOSECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new InterruptedIOException("interrupted while connecting");
    }
  }

  /** Hangs until it is interrupted, like a device that hears nothing from the other side. */
  private static String hang(Runnable meanwhile) throws IOException {
    meanwhile.run();
    try {
      new CountDownLatch(1).await();
      return "never";
    } catch (InterruptedException e) {
      throw new InterruptedIOException("interrupted while connecting");
    }
  }

  @Test
  void shouldTakeSharedMemoryOnTheSameHost() throws IOException {
    assertThat(connect(TransportChoice.AUTO, null))
        .isEqualTo(new Selected<>(shmEndpoint, "shm: same host"));
    assertThat(connect(TransportChoice.SHM, null))
        .isEqualTo(new Selected<>(shmEndpoint, "shm: as configured"));
    assertThat(connect(TransportChoice.TCP, null))
        .isEqualTo(new Selected<>(endpoint, "tcp: as configured"));
  }

  @Test
  void shouldNotBelieveTheOffersOfAServerThatIsBeingReplaced() throws IOException {
    String gone = directory.resolve("gone").toString();
    offersBefore.add(List.of(new OfferedTransport("shm", gone, HostIdentity.local())));
    assertThat(connect(TransportChoice.SHM, null))
        .isEqualTo(new Selected<>(shmEndpoint, "shm: as configured"));
    assertThat(offersBefore).isEmpty();
  }

  @Test
  void shouldTakeTcpWhereSharedMemoryIsImpossibleAndSayWhy() throws IOException {
    assertThat(connect(TransportChoice.AUTO, "no library for this machine"))
        .isEqualTo(new Selected<>(endpoint, "tcp: no library for this machine; " + NO_DEVICE));
    String local = HostIdentity.local();
    expectTcp(List.of(), "the server offers no shm");
    expectTcp(List.of(new OfferedTransport("verbs", "x", local)), "the server offers no shm");
    expectTcp(
        List.of(new OfferedTransport("shm", shmEndpoint, "elsewhere")),
        "the server runs on another host");
    String gone = directory.resolve("gone").toString();
    expectTcp(
        List.of(new OfferedTransport("shm", gone, local)),
        "the server's shared memory at "
            + gone
            + " is not visible here: the server may belong to another user or container");
    expectTcp(
        List.of(new OfferedTransport("shm", "a\0b", local)),
        "the server's shared memory has the impossible path 'a\0b'");
  }

  private void expectTcp(List<OfferedTransport> offered, String reason) throws IOException {
    offers = offered;
    assertThat(connect(TransportChoice.AUTO, null))
        .isEqualTo(new Selected<>(endpoint, "tcp: " + reason + "; " + NO_DEVICE));
    assertThatThrownBy(() -> connect(TransportChoice.SHM, null))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(endpoint)
        .hasMessageContaining(reason);
  }

  @Test
  void shouldFallBackToTcpWhenSharedMemoryFails() throws IOException {
    TransportSelector.Attempt<String> attempt =
        (transport, at, timeoutNs) -> {
          if (at.equals(shmEndpoint)) {
            throw new IOException("the segment is gone");
          }
          return at;
        };
    assertThat(selector(TransportChoice.AUTO, null).connect(endpoint, TIMEOUT_NS, null, attempt))
        .isEqualTo(new Selected<>(endpoint, "tcp: shm failed: the segment is gone; " + NO_DEVICE));
    assertThatThrownBy(
            () -> selector(TransportChoice.SHM, null).connect(endpoint, TIMEOUT_NS, null, attempt))
        .isInstanceOf(IOException.class)
        .hasMessage("the segment is gone");
  }

  @Test
  void shouldTakeVerbsWhereBothHostsHaveADevice() throws IOException {
    offers = List.of(new OfferedTransport("shm", shmEndpoint, "elsewhere"), VERBS);
    assertThat(connect(selector(TransportChoice.AUTO, null, null)))
        .isEqualTo(new Selected<>("10.0.0.1:7", "verbs: both hosts have an RDMA device"));
    assertThat(connect(selector(TransportChoice.VERBS, null, null)))
        .isEqualTo(new Selected<>("10.0.0.1:7", "verbs: as configured"));
    offers = List.of(new OfferedTransport("shm", shmEndpoint, HostIdentity.local()), VERBS);
    assertThat(connect(selector(TransportChoice.AUTO, null, null)))
        .isEqualTo(new Selected<>(shmEndpoint, "shm: same host"));
  }

  @Test
  void shouldTakeTcpWhereVerbsIsImpossibleAndSayWhy() throws IOException {
    offers = List.of(VERBS);
    assertThat(connect(TransportChoice.AUTO, null))
        .isEqualTo(new Selected<>(endpoint, "tcp: the server offers no shm; " + NO_DEVICE));
    assertThatThrownBy(() -> connect(TransportChoice.VERBS, null))
        .hasMessageContaining("fs.tako.transport is verbs")
        .hasMessageContaining(NO_DEVICE);
    TransportSelector.Attempt<String> attempt =
        (transport, at, timeoutNs) -> {
          if (at.equals(VERBS.endpoint())) {
            throw new IOException("the port is down");
          }
          return at;
        };
    TransportSelector selector = selector(TransportChoice.AUTO, "no library", null);
    assertThat(selector.connect(endpoint, TIMEOUT_NS, null, attempt))
        .isEqualTo(new Selected<>(endpoint, "tcp: no library; verbs failed: the port is down"));
    assertThat(selector.connect(endpoint, TIMEOUT_NS, "verbs", attempt))
        .isEqualTo(new Selected<>(endpoint, "tcp: verbs failed: the port is down"));
    offers = List.of();
    assertThatThrownBy(() -> connect(selector(TransportChoice.VERBS, null, null)))
        .hasMessageContaining("the server offers no verbs");
  }

  @Test
  void shouldLeaveTimeForTcpWhenVerbsHangs() throws IOException {
    offers = List.of(VERBS);
    List<Long> times = new ArrayList<>();
    TransportSelector.Attempt<String> attempt =
        (transport, at, timeoutNs) -> {
          times.add(timeoutNs);
          if (at.equals(VERBS.endpoint())) {
            throw new IOException("nobody answers");
          }
          return at;
        };
    TransportSelector selector = selector(TransportChoice.AUTO, "no library", null);
    assertThat(selector.connect(endpoint, TIMEOUT_NS, null, attempt).connection())
        .isEqualTo(endpoint);
    assertThat(times.get(0)).isLessThanOrEqualTo(TIMEOUT_NS / 2);
    assertThat(times.get(1)).isGreaterThan(TIMEOUT_NS / 4);
  }

  @Test
  void shouldNameAServerThatIsNotThere() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      endpoint = "127.0.0.1:" + socket.getLocalPort();
    }
    assertThatThrownBy(() -> connect(TransportChoice.AUTO, null))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(endpoint);
  }

  @Test
  void shouldStayWithTheTransportThatIsRequired() throws IOException {
    TransportSelector selector = selector(TransportChoice.AUTO, null);
    TransportSelector.Attempt<String> attempt = (transport, at, timeoutNs) -> at;
    assertThat(selector.connect(endpoint, TIMEOUT_NS, "tcp", attempt).connection())
        .isEqualTo(endpoint);
    assertThat(selector.connect(endpoint, TIMEOUT_NS, "shm", attempt).connection())
        .isEqualTo(shmEndpoint);
    Files.delete(Path.of(shmEndpoint));
    assertThatThrownBy(() -> selector.connect(endpoint, TIMEOUT_NS, "shm", attempt))
        .isInstanceOfSatisfying(
            TransportLostException.class, e -> assertThat(e.status()).isEqualTo(Status.UNAVAILABLE))
        .hasMessageContaining(endpoint)
        .hasMessageContaining("not visible");
    assertThat(selector.connect(endpoint, TIMEOUT_NS, null, attempt).connection())
        .isEqualTo(endpoint);
  }
}
