package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.LocalMemory;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.layout.Layout;
import io.takofs.proto.Arenas;
import io.takofs.proto.GetArenas;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.List;

/** One connection for calls and, once file data is wanted, one beside it for that. */
public final class RpcServerConnection implements ServerConnection {
  private final RpcClient rpc;
  private final Transport transport;
  private final LocalMemory memory;
  private final String endpoint;
  private final Clock clock;
  private volatile String verdict = "";
  private DataZone zone;
  private boolean closed;

  private RpcServerConnection(
      RpcClient rpc, Transport transport, LocalMemory memory, String endpoint, Clock clock) {
    this.rpc = rpc;
    this.transport = transport;
    this.memory = memory;
    this.endpoint = endpoint;
    this.clock = clock;
  }

  /**
   * Connects.
   *
   * @param memory of {@code transport}, for file data
   * @param target the session's server, or another one for the data that it has
   */
  public static RpcServerConnection connect(
      Transport transport, LocalMemory memory, RpcTarget target, long deadlineNs, Clock clock)
      throws IOException {
    long timeoutNs = Math.max(1, deadlineNs - clock.nanoTime());
    RpcClient rpc = RpcClient.connect(transport, target, timeoutNs, clock);
    return new RpcServerConnection(rpc, transport, memory, target.endpoint(), clock);
  }

  /** Notes how and why the server is reached this way, for people. */
  RpcServerConnection because(String reason) {
    verdict = reason;
    return this;
  }

  Transport transport() {
    return transport;
  }

  @Override
  public Reply call(long clientId, long sequence, Request request, long deadlineNs)
      throws TakoException {
    return rpc.call(clientId, sequence, request, deadlineNs);
  }

  @Override
  public boolean isOpen() {
    return rpc.isConnected();
  }

  @Override
  public String transportVerdict() {
    return verdict;
  }

  /**
   * Opens the zone; when that takes so long that the session may end meanwhile, this connection is
   * over: the next one may go another way, which gets to the data too.
   */
  @Override
  public synchronized DataZone openZone(SessionTerms terms, long deadlineNs) throws TakoException {
    long begin = clock.nanoTime();
    long patienceNs = SessionConnector.shareOfLife(terms);
    try {
      return open(terms, begin + Math.min(deadlineNs - begin, patienceNs));
    } catch (TakoException e) {
      if (e.status() == Status.DISCONNECTED && clock.nanoTime() - begin >= patienceNs) {
        rpc.end(e.getMessage());
      }
      throw e;
    }
  }

  private DataZone open(SessionTerms terms, long deadlineNs) throws TakoException {
    if (zone != null) {
      zone.close();
      zone = null;
    }
    if (closed) {
      throw new TakoException(Status.DISCONNECTED, "the connection is closed");
    }
    try (Undo undo = new Undo()) {
      CompletionQueue completions =
          undo.add(transport.createCompletionQueue(RemoteZone.OPERATIONS_MAX));
      QueuePair pair = undo.add(connectData(terms, completions, deadlineNs));
      zone = zone(arenas(terms, deadlineNs), pair, completions);
      undo.keep();
      return zone;
    }
  }

  private QueuePair connectData(SessionTerms terms, CompletionQueue completions, long deadlineNs)
      throws TakoException {
    MemoryRegion word = memory.word();
    ConnectionInfo ours =
        ConnectionInfo.ours(
            Layout.CONNECTION_DATA,
            terms.getClientId(),
            rpc.epoch(),
            word == null ? 0 : word.address(),
            word == null ? 0 : word.rkey());
    QueuePairConfig config =
        new QueuePairConfig(
            memory.domain(), completions, completions, RemoteZone.OPERATIONS_MAX, 0);
    long timeoutNs = Math.max(1, deadlineNs - clock.nanoTime());
    try (Undo undo = new Undo()) {
      QueuePair pair = undo.add(transport.connect(endpoint, config, ours.pack(), timeoutNs));
      ConnectionInfo theirs = ConnectionInfo.unpack(pair.remotePrivateData(), rpc.serverName());
      if (theirs.epoch() != rpc.epoch()) {
        throw new IOException("the server was started again meanwhile");
      }
      undo.keep();
      return pair;
    } catch (IOException e) {
      boolean busy = e instanceof TakoException refusal && refusal.status() == Status.BUSY;
      throw new TakoException(
          busy ? Status.BUSY : Status.DISCONNECTED,
          "no connection to the data zone of " + rpc.serverName() + ": " + e.getMessage(),
          e);
    }
  }

  /** All arenas; a reply has some of them. */
  private Arenas arenas(SessionTerms terms, long deadlineNs) throws TakoException {
    Arenas.Builder all = arenasFrom(0, terms, deadlineNs).toBuilder();
    while (all.getMore()) {
      Arenas next = arenasFrom(all.getArenasCount(), terms, deadlineNs);
      if (next.getArenasCount() == 0 || next.getArenas(0).getIndex() != all.getArenasCount()) {
        throw new TakoException(
            Status.INTERNAL,
            "the server showed no arena " + all.getArenasCount() + ", but said that there is one");
      }
      all.addAllArenas(next.getArenasList()).setMore(next.getMore());
    }
    return all.build();
  }

  private Arenas arenasFrom(int first, SessionTerms terms, long deadlineNs) throws TakoException {
    Request request =
        Request.newBuilder().setGetArenas(GetArenas.newBuilder().setFirst(first)).build();
    Reply reply = rpc.call(terms.getClientId(), CallNumbers.UNRECORDED, request, deadlineNs);
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    return reply.getArenas();
  }

  private DataZone zone(Arenas shown, QueuePair pair, CompletionQueue completions)
      throws TakoException {
    List<RemoteArena> arenas = shown.getArenasList();
    if (arenas.isEmpty()) {
      throw new TakoException(
          Status.INTERNAL, "the server showed no arena over " + transport.name());
    }
    if (!transport.mapsMemory()) {
      return new RemoteZone(shown, pair, completions, memory.staging(), clock);
    }
    MappedZone mapped =
        MappedZone.over(
            pair,
            shown,
            () -> {
              pair.close();
              completions.close();
            });
    if (mapped.arena(arenas.get(0).getIndex()) == null) {
      throw new TakoException(
          Status.DISCONNECTED,
          rpc.serverName()
              + " has taken its memory away, as a server does on its way down; or this process may"
              + " not map it");
    }
    return mapped;
  }

  @Override
  public void leave() {
    rpc.close();
    synchronized (this) {
      closed = true;
      zone = null;
    }
  }

  @Override
  public void close() {
    rpc.close();
    synchronized (this) {
      closed = true;
      if (zone != null) {
        zone.close();
      }
    }
  }
}
