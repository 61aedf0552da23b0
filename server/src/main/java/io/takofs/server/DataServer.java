package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcConnection;
import io.takofs.rpc.RpcHandler;
import io.takofs.rpc.RpcServer;
import io.takofs.server.http.ServerView;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.loggroup.LogGroup;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.zone.ArenaExport;
import io.takofs.server.zone.ArenaExports;
import io.takofs.server.zone.DataConnections;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.WindowPosts;
import io.takofs.server.zone.WindowedConnection;
import io.takofs.server.zone.WriteWindows;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data server over whatever transports it is given: {@link DataServerCore} under one lock.
 *
 * <p>It has no threads of its own: {@link #tick} is called by {@link HousekeepingThread}, or by a
 * simulation.
 *
 * <p>Thread rule: any thread.
 */
public final class DataServer implements RpcHandler, ServerView, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DataServer.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final BoundedLock boundedLock;
  private final SteadyClock clock;
  private final DataServerCore core;
  private final DataConnections dataConnections;
  private final GroupLookups lookups;
  private final long epoch;
  private final int maxConnections;
  private final ServerDataZone zone;
  private final WriteWindows windows;
  private final TransportReport transportReport = new TransportReport();
  private final List<RpcServer> served = new ArrayList<>();

  private final Map<String, ArenaExports> exports = new ConcurrentHashMap<>(); // by transport

  private volatile Runnable tickWanted = () -> {};
  private boolean closed;

  /**
   * @param maxConnections that carry calls, a transport
   */
  public DataServer(
      Clock clock,
      ServerSettings settings,
      GroupStorage storage,
      ServerDataZone zone,
      GroupLookups lookups,
      int maxConnections) {
    this.clock = new SteadyClock(clock);
    this.boundedLock = new BoundedLock(lock, this.clock);
    this.epoch = storage.epoch();
    this.zone = zone;
    this.windows = zone.windows();
    this.dataConnections = zone.connections();
    this.lookups = lookups;
    this.maxConnections = maxConnections;
    LogGroup group = new LogGroup(this.clock, settings, storage, zone.arenaLengths());
    this.core = new DataServerCore(group, zone, lookups.groups());
  }

  /**
   * Replays the log; before any transport is added.
   *
   * @throws TakoException when the log cannot be applied
   */
  public void recover() throws TakoException {
    core.recover();
    clock.continueFrom(core.latestTimeMs());
  }

  /** Makes a transport listen. */
  @FunctionalInterface
  public interface Listening {
    Transport.Listener listen(ConnectionAcceptor acceptor) throws IOException;
  }

  /**
   * Serves over {@code transport}, which stays its owner's.
   *
   * @return the listener, its owner's as well
   * @throws IOException when it cannot listen, or nothing can be registered; then nothing is left
   */
  public Transport.Listener serve(Transport transport, Listening listening) throws IOException {
    try (Undo undo = new Undo()) {
      ArenaExports shown = undo.add(zone.exportTo(transport));
      exports.put(transport.name(), shown);
      undo.add(() -> exports.remove(transport.name()));
      RpcServer rpc = undo.add(new RpcServer(transport, this, epoch, maxConnections));
      Transport.Listener listener = listening.listen(rpc.acceptor());
      served.add(rpc);
      transportReport.add(transport);
      undo.keep();
      return listener;
    }
  }

  /** Runs {@code listener} when {@link #tick} should be called soon. */
  void onTickWanted(Runnable listener) {
    tickWanted = listener;
  }

  /**
   * The state after a tick.
   *
   * @param pauseNs until the next one is wanted
   * @param failure of the log or of the memory after which no call is executed, or null
   */
  public record Tick(long pauseNs, String failure) {}

  /** Does what is due. */
  public Tick tick() {
    Tick next;
    List<Long> toFence;
    lock.lock();
    try {
      if (closed) {
        return new Tick(Long.MAX_VALUE, null);
      }
      next = new Tick(core.onTick(), core.failure());
      toFence = core.clientsToFence();
    } finally {
      lock.unlock();
    }
    windows.post();
    toFence.forEach(dataConnections::fence);
    dataConnections.sweep();
    return next;
  }

  /** As {@link Tick#failure}, for who was not told because a tick threw. */
  String failure() {
    lock.lock();
    try {
      return core.failure();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends all connections and makes a last checkpoint. Listeners are closed by their owner, before.
   */
  @Override
  public void close() {
    served.forEach(RpcServer::close);
    dataConnections.close();
    lock.lock();
    try {
      closed = true;
      core.checkpoint();
    } finally {
      lock.unlock();
    }
    exports.values().forEach(ArenaExports::close);
  }

  // ---- what the server's pages show
  // ----------------------------------------------------------

  /** Says in every status where the server's pages are. */
  void setHttp(String url) {
    transportReport.setHttp(url);
  }

  @Override
  public ServerStatus status() throws TakoException {
    Reply reply;
    boundedLock.lock();
    try {
      reply = core.status();
    } finally {
      lock.unlock();
    }
    return transportReport.complete(reply).getServerStatus();
  }

  @Override
  public Reply query(String user, Request request) throws TakoException {
    lookups.await(user);
    boundedLock.lock();
    try {
      return core.query(user, request);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<String> sickness() {
    try {
      boundedLock.lock();
    } catch (TakoException e) {
      return Optional.of(e.getMessage());
    }
    try {
      return closed ? Optional.of("the server is stopping") : Optional.ofNullable(core.failure());
    } finally {
      lock.unlock();
    }
  }

  // ---- what the transports' threads call
  // ----------------------------------------------------------

  @Override
  public void onCalls(List<IncomingCall> calls) {
    List<IncomingCall> ready = new ArrayList<>(calls.size());
    for (IncomingCall call : calls) {
      String user = call.request().getOpenSession().getUser();
      if (!call.request().hasOpenSession() || lookups.isKnown(user)) {
        ready.add(call);
      } else {
        executeOnceResolved(user, call);
      }
    }
    execute(ready);
  }

  private void executeOnceResolved(String user, IncomingCall call) {
    try {
      lookups.start(user, () -> execute(List.of(call)));
    } catch (RuntimeException | Error e) {
      // Too many wait, or there is no memory for a thread: the calls beside this one go on.
      LOG.warn("no thread to look up the groups of {}: {}", user, e.toString());
      call.reply(
          Reply.newBuilder()
              .setStatus(Status.UNAVAILABLE)
              .setMessage("too many users are being looked up; try again")
              .build());
    }
  }

  private void execute(List<IncomingCall> calls) {
    List<FencedReply> replies = new ArrayList<>(calls.size());
    List<String> stale;
    boolean tick;
    long arrivedNs = clock.nanoTime();
    lock.lock();
    try {
      if (closed) {
        return;
      }
      core.onCalls(calls, arrivedNs, replies);
      stale = core.staleUsers();
      tick = core.wantsTick();
    } finally {
      lock.unlock();
    }
    stale.forEach(lookups::refresh);
    windows.post();
    for (FencedReply reply : replies) {
      reply.send(windows, transportReport);
    }
    if (tick) {
      tickWanted.run();
    }
  }

  @Override
  public void onDisconnected(RpcConnection connection) {
    lock.lock();
    try {
      core.onDisconnected(connection);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public ProtectionDomain admitDataConnection(Transport transport, long clientId)
      throws IOException {
    checkDataConnection(clientId);
    return exports.get(transport.name()).take().domain();
  }

  private void checkDataConnection(long clientId) throws TakoException {
    lock.lock();
    try {
      core.checkDataConnection(clientId);
    } finally {
      lock.unlock();
    }
    // The client repeats unfinished writes through this connection, so none may arrive
    // through an earlier one.
    dataConnections.fence(clientId);
    dataConnections.revokeEnded();
    if (dataConnections.isConnected(clientId)) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "an earlier connection of client "
              + Long.toHexString(clientId)
              + " to the data zone has not ended yet: it still has the memory; try again");
    }
  }

  @Override
  public void onDataAborted(Transport transport, ProtectionDomain domain) {
    ArenaExports mine = exports.get(transport.name());
    mine.giveBack(mine.of(domain));
  }

  @Override
  public void onDataConnected(
      Transport transport, ConnectionInfo client, QueuePair pair, ProtectionDomain domain) {
    ArenaExports mine = exports.get(transport.name());
    ArenaExport export = mine.of(domain);
    boolean usable = export.isWritable() || takesWindows(client, pair, export);
    dataConnections.add(
        client.clientId(), pair, export, clock.currentTimeMillis(), () -> mine.giveBack(export));
    if (!usable) {
      dataConnections.ended(pair);
    }
  }

  /** Runs before the connection can end, because its end releases its windows. */
  private boolean takesWindows(ConnectionInfo client, QueuePair pair, ArenaExport export) {
    try {
      WindowPosts posts = new WindowPosts(pair, export, client);
      windows.connected(client.clientId(), new WindowedConnection(pair, posts));
      return true;
    } catch (IOException e) {
      LOG.warn("{} cannot be used: {}", pair, e.getMessage());
      return false;
    }
  }

  @Override
  public void onDataCompletion(QueuePair pair, long workRequestId, CompletionStatus status) {
    windows.onCompletion(pair, workRequestId, status);
  }

  /** The pair stays until it can be fenced: its peer may still have the memory mapped. */
  @Override
  public void onDataDisconnected(long clientId, QueuePair pair) {
    dataConnections.ended(pair);
  }
}
