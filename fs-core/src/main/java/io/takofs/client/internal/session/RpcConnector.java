package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.client.internal.zone.LocalMemory;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.select.Selected;
import io.takofs.transport.select.TransportSelector;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Makes connections to the server of a URI over the transport that fits.
 *
 * <p>Thread rule: any thread.
 */
public final class RpcConnector implements Connector {
  private final String server;
  private final TakoConfig config;
  private final MemoryBudget budget;
  private final Map<Transport, LocalMemory> memories = new ConcurrentHashMap<>();
  private TransportSelector selector;

  /** The session's last transport; open files depend on how data is reached. */
  private String lastTransport;

  /** For {@code server}, {@code host:port}. */
  public RpcConnector(String server, TakoConfig config) {
    this.server = server;
    this.config = config;
    this.budget = new MemoryBudget(config.get(ConfigKeys.CLIENT_MEMORY_MAX));
  }

  @Override
  public synchronized ServerConnection connect(long clientId, long deadlineNs) throws IOException {
    if (selector == null) {
      selector = new TransportSelector(config);
    }
    long timeoutNs = Math.max(1, deadlineNs - Clock.SYSTEM.nanoTime());
    Selected<RpcServerConnection> selected =
        selector.connect(
            server,
            timeoutNs,
            clientId == 0 ? null : lastTransport,
            (transport, endpoint, attemptNs) ->
                RpcServerConnection.connect(
                    transport,
                    memory(transport),
                    endpoint,
                    server,
                    clientId,
                    Clock.SYSTEM.nanoTime() + attemptNs,
                    Clock.SYSTEM));
    RpcServerConnection connection = selected.connection();
    if (lastTransport != null) {
      connection.transport().counters().add(Counter.RECONNECTS, 1);
    }
    lastTransport = connection.transport().name();
    return connection.because(selected.verdict());
  }

  private LocalMemory memory(Transport transport) throws IOException {
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
  public synchronized void rest() {
    budget.trim();
    if (budget.used() == 0) {
      close();
    }
  }

  @Override
  public synchronized void close() {
    memories.values().forEach(LocalMemory::close);
    memories.clear();
    if (selector != null) {
      selector.close();
      selector = null;
    }
  }
}
