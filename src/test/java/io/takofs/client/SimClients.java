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
import io.takofs.layout.Layout;
import io.takofs.proto.CloseSession;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.Transport;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** Makes clients over a transport and a clock that a test owns. */
public final class SimClients {
  private final Calls calls;

  private SimClients(Calls calls) {
    this.calls = calls;
  }

  /** Clients as they are. */
  public static SimClients real() {
    return new SimClients(ServerConnection::call);
  }

  /** Clients that give a call another number each time they send it. */
  public static SimClients withoutExactlyOnce() {
    AtomicLong sent = new AtomicLong();
    return new SimClients(
        (to, clientId, sequence, request, deadlineNs) ->
            to.call(clientId, (sequence << 32) + sent.incrementAndGet(), request, deadlineNs));
  }

  /** Clients that close files without the inline bytes that the commit has to carry. */
  public static SimClients losingTailsOnClose() {
    return new SimClients(
        (to, clientId, sequence, request, deadlineNs) -> {
          Request.Builder sent = request.toBuilder();
          if (request.getCommitExtents().getClose()) {
            sent.getCommitExtentsBuilder()
                .setLength(
                    request.getCommitExtents().getLength()
                        - request.getCommitExtents().getInlineData().size())
                .clearInlineData();
          }
          return to.call(clientId, sequence, sent.build(), deadlineNs);
        });
  }

  /**
   * A client of the server that listens at {@code endpoint} of {@code transport}.
   *
   * @param session gets the id of the session that it called under last
   */
  public TakoClient create(
      Transport transport,
      String endpoint,
      TakoConfig config,
      String user,
      Clock clock,
      AtomicLong session) {
    UnaryOperator<ServerConnection> observed =
        connection ->
            new ChangedConnection(
                connection,
                (to, clientId, sequence, request, deadlineNs) -> {
                  if (clientId != 0) {
                    session.set(clientId);
                  }
                  return calls.call(to, clientId, sequence, request, deadlineNs);
                });
    return new TakoClient(
        URI.create("tako://simulated"),
        config,
        user,
        new TransportConnector(observed, transport, memoryOf(transport), endpoint, clock),
        clock,
        renewal -> new Thread(() -> {}, "leases are not renewed"));
  }

  /**
   * Ends the session of a client that is gone: whatever it sent is not executed any more.
   *
   * @param user whose session it is
   */
  public static void endSession(
      Transport transport, String endpoint, String user, long clientId, Clock clock)
      throws IOException {
    long deadlineNs = clock.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    RpcTarget target = new RpcTarget(ConnectionKind.RPC, endpoint, endpoint, clientId);
    try (RpcClient connection =
        RpcClient.connect(transport, target, deadlineNs - clock.nanoTime(), clock)) {
      Request.Builder resume = Request.newBuilder();
      resume
          .getOpenSessionBuilder()
          .setProtocolVersion(Layout.PROTOCOL_VERSION)
          .setLayoutHash(Layout.LAYOUT_HASH)
          .setUser(user)
          .setClientName("simulated");
      Request close =
          Request.newBuilder().setCloseSession(CloseSession.getDefaultInstance()).build();
      for (Request request : List.of(resume.build(), close)) {
        Reply reply = connection.call(clientId, 1, request, deadlineNs);
        if (reply.getStatus() == Status.SESSION_EXPIRED) {
          return;
        }
        if (reply.getStatus() != Status.OK) {
          throw new TakoException(reply.getStatus(), reply.getMessage());
        }
      }
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(Status.DISCONNECTED, e.getMessage(), e); // as a session says it
    }
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
              transport,
              memory,
              new RpcTarget(ConnectionKind.RPC, endpoint, endpoint, clientId),
              deadlineNs,
              clock));
    }

    @Override
    public ServerConnection connectData(String server, long clientId, long deadlineNs)
        throws IOException {
      return wrapper.apply(
          RpcServerConnection.connect(
              transport,
              memory,
              new RpcTarget(ConnectionKind.CONTROL, server, server, clientId),
              deadlineNs,
              clock));
    }

    @Override
    public ServerConnection connectToAsk(String server, long deadlineNs) throws IOException {
      return wrapper.apply(
          RpcServerConnection.connect(
              transport,
              memory,
              new RpcTarget(ConnectionKind.RPC, server, server, 0),
              deadlineNs,
              clock));
    }

    @Override
    public void redirect(String to) {
      throw new IllegalArgumentException("sessions are at " + endpoint + " only, not at " + to);
    }

    @Override
    public String clientName() {
      return "simulated";
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

  /** What becomes of a call. */
  @FunctionalInterface
  private interface Calls {
    Reply call(ServerConnection to, long clientId, long sequence, Request request, long deadlineNs)
        throws TakoException;
  }

  /** A connection whose calls somebody changes. */
  private record ChangedConnection(ServerConnection connection, Calls calls)
      implements ServerConnection {
    @Override
    public Reply call(long clientId, long sequence, Request request, long deadlineNs)
        throws TakoException {
      return calls.call(connection, clientId, sequence, request, deadlineNs);
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
    public void leave() {
      connection.leave();
    }

    @Override
    public void close() {
      connection.close();
    }
  }
}
