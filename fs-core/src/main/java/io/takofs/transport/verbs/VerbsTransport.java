package io.takofs.transport.verbs;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.VerbsCore;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queue pairs of an RDMA device. An endpoint is {@code host:port}, where the host is an address
 * that the device is reached by; an empty one asks for a free port of this device.
 *
 * <p>Thread rule: any thread. Acceptors are asked on the control path's event thread and told of
 * ends on a thread of the transport; completions are awaited and polled, there are no event
 * callbacks.
 */
public final class VerbsTransport implements Transport {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsTransport.class);

  /** Between two looks whether the peers of idle pairs are still there. */
  static final long PROBE_INTERVAL_NS = TimeUnit.SECONDS.toNanos(2);

  /** Private data of a request or an answer, as the SPI has it. */
  private static final int PRIVATE_DATA_MAX = 56;

  /** Bytes worth copying into a work request: more make every send queue's entries larger. */
  private static final int INLINE_MAX = 220;

  private final VerbsControl control;
  private final TransportCounters counters;
  private final ScheduledExecutorService upkeep;
  private final AtomicInteger lastPair = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Set<VerbsProtectionDomain> domains = ConcurrentHashMap.newKeySet();
  private final Set<VerbsCompletionQueue> queues = ConcurrentHashMap.newKeySet();
  private final Set<VerbsEndpoint> endpoints = ConcurrentHashMap.newKeySet();
  private final Map<VerbsConnection, VerbsQueuePair> pairs = new ConcurrentHashMap<>();
  private volatile boolean windowBounds; // not before that was tried

  private VerbsTransport(VerbsControl control) {
    this.control = control;
    this.counters = new TransportCounters(new DeviceCounters(control.facts())::receiverNotReady);
    this.upkeep =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "tako-verbs-upkeep");
              thread.setDaemon(true);
              return thread;
            });
    ScheduledFuture<?> unused = // it ends with the transport
        upkeep.scheduleWithFixedDelay(
            this::probe, PROBE_INTERVAL_NS, PROBE_INTERVAL_NS, TimeUnit.NANOSECONDS);
  }

  /** Why this process cannot use the transport; empty if it can. */
  public static Optional<String> unavailabilityCause() {
    Optional<String> cause = VerbsCore.unavailabilityCause();
    return cause.isPresent() ? cause : VerbsControl.unavailabilityCause();
  }

  /**
   * Opens the device that owns {@code address}, or with none the first that has an active port.
   *
   * @throws TakoException UNSUPPORTED where there are no verbs, saying why
   * @throws IOException naming the address and what is wrong with it
   */
  public static VerbsTransport create(Optional<InetAddress> address) throws IOException {
    Optional<String> cause = unavailabilityCause();
    if (cause.isPresent()) {
      throw new TakoException(Status.UNSUPPORTED, "verbs are unavailable: " + cause.get());
    }
    try (Undo undo = new Undo()) {
      VerbsTransport transport = new VerbsTransport(undo.add(VerbsControl.open(address)));
      undo.keep();
      return transport;
    }
  }

  VerbsControl control() {
    return control;
  }

  /** The address that peers reach this device by. */
  public InetAddress address() {
    return control.address();
  }

  /** Bytes that queue pairs take with a send. */
  int maxInline() {
    return Math.min(INLINE_MAX, control.facts().maxInline());
  }

  @Override
  public String name() {
    return "verbs";
  }

  @Override
  public boolean hasMemoryWindows() {
    return control.facts().windows2B();
  }

  /** Whether the device is known to look at the bounds of memory windows. */
  boolean looksAtWindowBounds() {
    return windowBounds;
  }

  /**
   * Tries whether the device looks at the bounds of memory windows, for those who will bind any:
   * until then, and where it does not, each binding registers a region of exactly its bytes. Takes
   * a moment, and uses nothing of this transport.
   *
   * @throws IOException when it could not be tried, saying why
   */
  public boolean tryWindowBounds() throws IOException {
    try (VerbsTransport own = create(Optional.of(address()));
        WindowBoundsProbe probe = new WindowBoundsProbe(own)) {
      windowBounds = probe.refusesBeyond(true);
      return windowBounds;
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    try {
      VerbsProtectionDomain domain = new VerbsProtectionDomain(this, control.allocateDomain());
      domains.add(domain);
      return domain;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a protection domain", e);
    }
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity) {
    Invariant.check(capacity > 0, "a completion queue has room for at least one completion");
    try {
      VerbsCompletionQueue queue =
          new VerbsCompletionQueue(this, Math.min(capacity, control.facts().maxCompletions()));
      queues.add(queue);
      return queue;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a completion queue", e);
    }
  }

  @Override
  public Listener listen(String endpoint, ConnectionAcceptor acceptor) throws IOException {
    VerbsEndpoint listener =
        new VerbsEndpoint(this, Endpoints.parse(endpoint, control.address()), acceptor);
    endpoints.add(listener);
    return listener;
  }

  @Override
  public QueuePair connect(
      String endpoint, QueuePairConfig config, byte[] privateData, long timeoutNs)
      throws IOException {
    Invariant.check(
        privateData.length <= PRIVATE_DATA_MAX,
        () -> privateData.length + " bytes of private data, at most 56 are carried");
    return new VerbsConnector(this, endpoint, timeoutNs).connect(config, privateData);
  }

  /** Makes this process's side of a pair. */
  VerbsQueuePair newQueuePair(
      QueuePairConfig config,
      VerbsConnection connection,
      String remoteName,
      Optional<ConnectionAcceptor> acceptor)
      throws IOException {
    VerbsQueuePair pair =
        new VerbsQueuePair(
            this, config, connection, lastPair.incrementAndGet(), remoteName, acceptor);
    pairs.put(connection, pair);
    counters.add(Counter.QUEUE_PAIRS, 1);
    return pair;
  }

  /** The control path says that a connection is over. Its event thread. */
  void onDisconnected(VerbsConnection connection, String reason) {
    VerbsQueuePair pair = pairs.get(connection);
    if (pair != null) {
      pair.fail(reason);
    }
  }

  private void probe() {
    for (VerbsQueuePair pair : pairs.values()) {
      try {
        pair.probe();
      } catch (RuntimeException e) {
        LOG.error("{} cannot be probed", pair, e); // the others are, and this one again
      }
    }
  }

  /** Runs {@code task} on a thread where acceptors may call whatever they want. */
  void execute(Runnable task) {
    try {
      upkeep.execute(
          () -> {
            try {
              task.run();
            } catch (RuntimeException e) {
              LOG.error("an acceptor failed when it was told of an end", e);
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("a connection ended after its transport was closed");
    }
  }

  void forget(VerbsQueuePair pair, VerbsConnection connection) {
    pairs.remove(connection, pair);
    counters.add(Counter.QUEUE_PAIRS, -1);
  }

  void forget(VerbsCompletionQueue queue) {
    queues.remove(queue);
  }

  boolean forget(VerbsProtectionDomain domain) {
    return domains.remove(domain);
  }

  boolean forget(VerbsEndpoint endpoint) {
    return endpoints.remove(endpoint);
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    endpoints.forEach(VerbsEndpoint::close);
    pairs.values().forEach(VerbsQueuePair::close);
    queues.forEach(VerbsCompletionQueue::close);
    domains.forEach(VerbsProtectionDomain::close);
    upkeep.shutdown();
    control.close();
  }
}
