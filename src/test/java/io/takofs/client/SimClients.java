package io.takofs.client;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Connector;
import io.takofs.client.internal.session.RpcServerConnection;
import io.takofs.client.internal.session.ServerConnection;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.LocalMemory;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Makes clients over a transport and a clock that a test owns. */
public final class SimClients {
  private final UnaryOperator<ServerConnection> wrapper;

  private SimClients(UnaryOperator<ServerConnection> wrapper) {
    this.wrapper = wrapper;
  }

  /** Clients as they are. */
  public static SimClients real() {
    return new SimClients(connection -> connection);
  }

  /** Clients that give a call another number each time they send it. */
  public static SimClients withoutExactlyOnce() {
    return new SimClients(RenumberingConnection::new);
  }

  /** A client of the server that listens at {@code endpoint} of {@code transport}. */
  public TakoClient create(
      Transport transport, String endpoint, TakoConfig config, String user, Clock clock) {
    return new TakoClient(
        URI.create("tako://simulated"),
        config,
        user,
        new TransportConnector(wrapper, transport, memoryOf(transport), endpoint, clock),
        clock,
        renewal -> new Thread(() -> {}, "leases are not renewed"));
  }

  private static LocalMemory memoryOf(Transport transport) {
    try {
      return new LocalMemory(transport, new MemoryBudget(64L << 20));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record TransportConnector(
      UnaryOperator<ServerConnection> wrapper,
      Transport transport,
      LocalMemory memory,
      String endpoint,
      Clock clock)
      implements Connector {
    @Override
    public ServerConnection connect(long clientId, long deadlineNs) throws IOException {
      return wrapper.apply(
          RpcServerConnection.connect(
              transport, memory, endpoint, endpoint, clientId, deadlineNs, clock));
    }

    @Override
    public String server() {
      return endpoint;
    }

    @Override
    public void rest() {}

    @Override
    public MemoryBudget budget() {
      return memory.staging().budget();
    }

    @Override
    public Map<String, TransportCounters> counters() {
      return Map.of(transport.name(), transport.counters());
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  /** Spoils the numbers of calls, which make them exactly-once. */
  private static final class RenumberingConnection implements ServerConnection {
    private static long sent;

    private final ServerConnection connection;

    RenumberingConnection(ServerConnection connection) {
      this.connection = connection;
    }

    @Override
    public Reply call(long clientId, long sequence, Request request, long deadlineNs)
        throws TakoException {
      return connection.call(clientId, (sequence << 32) + ++sent, request, deadlineNs);
    }

    @Override
    public boolean isOpen() {
      return connection.isOpen();
    }

    @Override
    public String transportVerdict() {
      return connection.transportVerdict();
    }

    @Override
    public DataZone openZone(SessionTerms terms, long deadlineNs) throws TakoException {
      return connection.openZone(terms, deadlineNs);
    }

    @Override
    public void close() {
      connection.close();
    }
  }
}
