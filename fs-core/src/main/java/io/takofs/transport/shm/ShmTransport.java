package io.takofs.transport.shm;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Queue pairs between processes of one host. An endpoint is the path of a Unix domain socket; an
 * empty one asks for a free path in the transport's own directory.
 *
 * <p>Thread rule: any thread. Acceptors are called on the transport's control thread; completions
 * are awaited and polled, there are no event callbacks.
 */
public final class ShmTransport implements Transport {
  /** Directory for the shared memory of a transport without one of its own. */
  private static final Path DEFAULT_PARENT = Path.of("/dev/shm");

  /** Bytes of sockaddr_un.sun_path, without the zero at its end. */
  private static final int SOCKET_PATH_MAX = 107;

  private final ShmDirectory directory;
  private final ControlLoop control;
  private final TransportCounters counters = new TransportCounters();
  private final AtomicInteger lastName = new AtomicInteger();
  private final AtomicInteger lastPair = new AtomicInteger();
  private final Set<AutoCloseable> domains = ConcurrentHashMap.newKeySet();
  private final Set<ShmCompletionQueue> queues = ConcurrentHashMap.newKeySet();
  private final Set<ShmQueuePair> pairs = ConcurrentHashMap.newKeySet();
  private final Set<ShmListener> listeners = ConcurrentHashMap.newKeySet();

  private ShmDirectory endpoints; // where sockets go whose path would be too long

  private ShmTransport(ShmDirectory directory, ControlLoop control) {
    this.directory = directory;
    this.control = control;
  }

  /** Why this process cannot use the transport; empty if it can. */
  public static Optional<String> unavailabilityCause() {
    return NativeLibrary.unavailabilityCause();
  }

  /**
   * Makes a transport that shares its memory in a new directory in {@code parent}, which should be
   * on tmpfs. Directories there of processes that died are removed. What is promised of their peers
   * is what {@link #hasFormerPeers} promises.
   *
   * @throws TakoException UNSUPPORTED without the native library, saying why it is missing;
   *     UNAVAILABLE when the promise cannot be made
   */
  public static ShmTransport create(Path parent) throws IOException {
    Optional<String> cause = unavailabilityCause();
    if (cause.isPresent()) {
      throw new TakoException(Status.UNSUPPORTED, "shared memory is unavailable: " + cause.get());
    }
    try (Undo undo = new Undo()) {
      ShmDirectory directory = undo.add(ShmDirectory.create(parent));
      ShmTransport transport = new ShmTransport(directory, new ControlLoop());
      undo.keep();
      return transport;
    }
  }

  /** Makes a transport that shares its memory in /dev/shm, or in the directory for temporaries. */
  public static ShmTransport create() throws IOException {
    return create(defaultParent());
  }

  private static Path defaultParent() {
    boolean usable = Files.isDirectory(DEFAULT_PARENT) && Files.isWritable(DEFAULT_PARENT);
    return usable ? DEFAULT_PARENT : Path.of(System.getProperty("java.io.tmpdir"));
  }

  /**
   * Whether a peer of a process that is gone, and that shared its memory in {@code parent}, may
   * still write to memory that process exported. Nothing is true for ever but "no".
   *
   * <p>Whatever it returns, and also when it is called while peers are stopped: a write that a peer
   * posted to a process of this user that was gone before the call completes there with SUCCESS
   * only if all its bytes were in memory, and visible to this processor, before this returned. It
   * is what {@link QueuePair#revoke} promises, given by whoever comes next in place of a process
   * that could not. So a copy of memory that outlived the process, made afterwards, has every byte
   * of every write that a peer ever counts. Processes that live are left alone. Without the native
   * library nothing is promised.
   *
   * @throws TakoException UNAVAILABLE when that cannot be promised
   */
  public static boolean hasFormerPeers(Path parent) throws IOException {
    return unavailabilityCause().isEmpty()
        && Files.exists(parent)
        && ShmDirectory.removeStale(parent);
  }

  @Override
  public String name() {
    return "shm";
  }

  @Override
  public boolean mapsMemory() {
    return true;
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    try {
      Path path = directory.createDirectory(newName("domain-"));
      ShmProtectionDomain domain = new ShmProtectionDomain(this, path);
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
      ShmCompletionQueue queue =
          new ShmCompletionQueue(this, directory.path().resolve(newName("doorbell-")));
      queues.add(queue);
      return queue;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a completion queue", e);
    }
  }

  @Override
  public Listener listen(String endpoint, ConnectionAcceptor acceptor) throws IOException {
    Path path = endpoint.isEmpty() ? newEndpoint() : Path.of(endpoint).toAbsolutePath();
    ShmListener listener = new ShmListener(this, path, acceptor);
    listeners.add(listener);
    return listener;
  }

  private Path newEndpoint() throws IOException {
    String name = newName("endpoint-");
    Path path = directory.path().resolve(name);
    if (path.toString().getBytes(StandardCharsets.UTF_8).length <= SOCKET_PATH_MAX) {
      return path;
    }
    synchronized (this) {
      if (endpoints == null) {
        endpoints = ShmDirectory.create(defaultParent());
      }
      return endpoints.path().resolve(name);
    }
  }

  @Override
  public QueuePair connect(
      String endpoint, QueuePairConfig config, byte[] privateData, long timeoutNs)
      throws IOException {
    Invariant.check(
        privateData.length <= Layout.SHM_PRIVATE_DATA_MAX,
        () -> privateData.length + " bytes of private data, at most 56 are carried");
    return new ShmConnector(this, endpoint, timeoutNs).connect(config, privateData);
  }

  /** Makes this process's side of a pair. */
  ShmQueuePair newQueuePair(QueuePairConfig config) throws IOException {
    ShmQueuePair pair =
        new ShmQueuePair(
            this,
            config,
            lastPair.incrementAndGet(),
            directory.path().resolve(newName(Inbox.PREFIX)));
    pairs.add(pair);
    counters.add(Counter.QUEUE_PAIRS, 1);
    return pair;
  }

  private String newName(String prefix) {
    return prefix + lastName.incrementAndGet();
  }

  ControlLoop control() {
    return control;
  }

  void forget(ShmQueuePair pair) {
    pairs.remove(pair);
  }

  void forget(ShmListener listener) {
    listeners.remove(listener);
  }

  void forget(ShmCompletionQueue queue) {
    queues.remove(queue);
  }

  void forget(ShmProtectionDomain domain) {
    domains.remove(domain);
  }

  @Override
  public void close() {
    listeners.forEach(ShmListener::close);
    pairs.forEach(ShmQueuePair::close);
    queues.forEach(ShmCompletionQueue::close);
    control.close();
    pairs.forEach(ShmQueuePair::close); // which the control thread made meanwhile
    for (AutoCloseable domain : domains) {
      ((ShmProtectionDomain) domain).close();
    }
    directory.close();
    if (endpoints != null) {
      endpoints.close();
    }
  }
}
