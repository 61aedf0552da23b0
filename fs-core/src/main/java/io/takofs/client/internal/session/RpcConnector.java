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
  private int asked; // of those configured
  private TransportSelector selector;
  private boolean closed;

  /** The session's last transport; open files depend on how data is reached. */
  private volatile String lastTransport;

  /**
   * A connector to one of {@code servers}, the first that answers.
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
    String before = clientId == 0 ? null : lastTransport;
    long untilNs = clientId == 0 ? shareOfOne(deadlineNs) : deadlineNs;
    RpcServerConnection connection = connect(ConnectionKind.RPC, server, clientId, before, untilNs);
    if (lastTransport != null) {
      connection.transport().counters().add(Counter.RECONNECTS, 1);
    }
    lastTransport = connection.transport().name();
    return connection;
  }

  /** A part of the time, so that a server that does not answer leaves some for the others. */
  private long shareOfOne(long deadlineNs) {
    long now = Clock.SYSTEM.nanoTime();
    return now + (deadlineNs - now) / configured.size();
  }

  @Override
  public ServerConnection connectData(String other, long clientId, long deadlineNs)
      throws IOException {
    return connect(ConnectionKind.CONTROL, other, clientId, null, deadlineNs);
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
  public synchronized void redirect(String leader) {
    if (leader == null) {
      asked = (asked + 1) % configured.size();
    }
    server = leader == null ? configured.get(asked) : leader;
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
