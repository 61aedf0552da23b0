package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.LocalMemory;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.select.Selected;
import io.takofs.transport.select.TransportSelector;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Makes connections to the server of a URI, and to others of its cluster, each over the transport
 * that fits.
 *
 * <p>Thread rule: any thread.
 */
public final class RpcConnector implements Connector {
  private final List<String> configured;
  private final TakoConfig config;
  private final MemoryBudget budget;
  private final Map<Transport, LocalMemory> memories = new ConcurrentHashMap<>();

  /** Attempts to connect hold the read lock; the write lock proves that there is none. */
  private final ReadWriteLock connecting = new ReentrantReadWriteLock();

  private volatile String server;
  private TransportSelector selector;
  private boolean closed;

  /**
   * The transport of the session at each server where it was: files whose data is there depend on
   * how it is reached.
   */
  private final Map<String, String> transports = new ConcurrentHashMap<>();

  private volatile boolean wasConnected;

  /**
   * A connector to one of {@code servers}, the first at first.
   *
   * @param servers {@code host:port} each
   */
  public RpcConnector(List<String> servers, TakoConfig config) {
    this.configured = List.copyOf(servers);
    this.server = servers.get(0);
    this.config = config;
    this.budget = new MemoryBudget(config.get(ConfigKeys.CLIENT_MEMORY_MAX));
  }

  @Override
  public ServerConnection connect(long clientId, long deadlineNs) throws IOException {
    String to = server;
    String before = clientId == 0 ? null : transports.get(to);
    RpcServerConnection connection = connect(ConnectionKind.RPC, to, clientId, before, deadlineNs);
    if (wasConnected) {
      connection.transport().counters().add(Counter.RECONNECTS, 1);
    }
    wasConnected = true;
    transports.put(to, connection.transport().name());
    return connection;
  }

  @Override
  public ServerConnection connectData(String other, long clientId, long deadlineNs)
      throws IOException {
    return connect(ConnectionKind.CONTROL, other, clientId, null, deadlineNs);
  }

  @Override
  public ServerConnection connectToAsk(String other, long deadlineNs) throws IOException {
    return connect(ConnectionKind.RPC, other, 0, null, deadlineNs);
  }

  private RpcServerConnection connect(
      ConnectionKind kind, String to, long clientId, String before, long deadlineNs)
      throws IOException {
    connecting.readLock().lock();
    try {
      long timeoutNs = Math.max(1, deadlineNs - Clock.SYSTEM.nanoTime());
      Selected<RpcServerConnection> selected =
          selector()
              .connect(
                  to,
                  timeoutNs,
                  before,
                  (transport, endpoint, attemptNs) ->
                      RpcServerConnection.connect(
                          transport,
                          memory(transport),
                          new RpcTarget(kind, endpoint, to, clientId),
                          Clock.SYSTEM.nanoTime() + attemptNs,
                          Clock.SYSTEM));
      return selected.connection().because(selected.verdict());
    } finally {
      connecting.readLock().unlock();
    }
  }

  private synchronized TransportSelector selector() throws TakoException {
    if (closed) { // a read that goes on would leave connections that nobody closes
      throw new TakoException(Status.UNAVAILABLE, "the client is closed");
    }
    if (selector == null) {
      selector = new TransportSelector(config);
    }
    return selector;
  }

  private synchronized LocalMemory memory(Transport transport) throws IOException {
    LocalMemory memory = memories.get(transport);
    if (memory == null) {
      memory = new LocalMemory(transport, budget);
      memories.put(transport, memory);
    }
    return memory;
  }

  @Override
  public Map<String, TransportCounters> counters() {
    Map<String, TransportCounters> counters = new HashMap<>();
    memories.keySet().forEach(transport -> counters.put(transport.name(), transport.counters()));
    return counters;
  }

  @Override
  public MemoryBudget budget() {
    return budget;
  }

  @Override
  public String server() {
    return server;
  }

  @Override
  public List<String> servers() {
    return configured;
  }

  @Override
  public void redirect(String to) {
    server = to;
  }

  @Override
  public void rest() {
    if (!connecting.writeLock().tryLock()) {
      return; // somebody connects
    }
    try {
      budget.trim();
      if (budget.used() == 0) {
        release();
      }
    } finally {
      connecting.writeLock().unlock();
    }
  }

  @Override
  public void close() {
    connecting.writeLock().lock();
    try {
      end();
    } finally {
      connecting.writeLock().unlock();
    }
  }

  private synchronized void end() {
    closed = true;
    release();
  }

  private synchronized void release() {
    memories.values().forEach(LocalMemory::close);
    memories.clear();
    if (selector != null) {
      selector.close();
      selector = null;
    }
  }
}
