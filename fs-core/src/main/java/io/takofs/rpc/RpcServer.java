package io.takofs.rpc;

import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The serving side of one transport: accepts connections, hands their calls to the {@link
 * RpcHandler} of their kind and lets connections to the data zone in.
 *
 * <p>Where the transport has threads of its own, calls are handled on the thread that received
 * them; otherwise on one poller thread, which sleeps when nothing comes.
 *
 * <p>Thread rule: any thread. {@link IncomingCall#reply} must not be called with a lock held that
 * the handler takes.
 */
public final class RpcServer implements AutoCloseable {
  /** The kinds of connections, not copied with every batch of calls. */
  private static final ConnectionKind[] KINDS = ConnectionKind.values();

  private static final Logger LOG = LoggerFactory.getLogger(RpcServer.class);

  /** Connections of other servers at most: clients never take their place. */
  private static final int SERVERS_MAX = 64;

  /** Operations under way on a connection to the data zone at most, of this side. */
  public static final int DATA_SENDS = 64;

  private static final int BATCH = 64;

  private final Transport transport;
  private final RpcServices services;
  private final long epoch;
  private final int maxConnections;

  /** Receive queue of the transport's threads, for completions of connections to the data zone. */
  private final CompletionQueue dataCompletions;

  /** Whether the transport's threads receive; else {@code poller} does. */
  private final boolean eventDriven;

  private final Poller poller;
  private final Map<ConnectionAcceptor.Accept, Receiver> accepted = new ConcurrentHashMap<>();
  private final Map<QueuePair, Receiver> receivers = new ConcurrentHashMap<>();
  private final Map<ConnectionAcceptor.Accept, ConnectionInfo> acceptedData =
      new ConcurrentHashMap<>();
  private final Map<QueuePair, Long> dataPairs = new ConcurrentHashMap<>();
  private final Map<ConnectionAcceptor.Accept, ConnectionInfo> acceptedLog =
      new ConcurrentHashMap<>();
  private final Set<QueuePair> logPairs = ConcurrentHashMap.newKeySet();

  /** One connection and the inbox its completions go to. */
  private record Receiver(RpcConnection connection, Inbox inbox) {}

  /**
   * @param epoch incarnation of the server
   * @param maxConnections connections that carry calls, at most
   */
  public RpcServer(Transport transport, RpcServices services, long epoch, int maxConnections) {
    this.transport = transport;
    this.services = services;
    this.epoch = epoch;
    this.maxConnections = maxConnections;
    try (CompletionQueue probe = transport.createCompletionQueue(1)) {
      this.eventDriven = probe.onEvent(() -> {});
    }
    if (eventDriven) {
      this.dataCompletions = transport.createCompletionQueue(maxConnections * DATA_SENDS);
      dataCompletions.onEvent(this::pollData);
      this.poller = null;
    } else {
      this.poller = new Poller();
      this.dataCompletions = poller.inbox.completions;
      poller.thread.start();
    }
  }

  private void pollData() {
    int count = BATCH;
    while (count == BATCH) {
      synchronized (dataCompletions) {
        count = dataCompletions.poll(this::onDataCompletion, BATCH);
      }
    }
  }

  private void onDataCompletion(
      QueuePair pair,
      long workRequestId,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    if (opcode != Opcode.RECEIVE_IMMEDIATE) {
      services.data().onDataCompletion(pair, workRequestId, status);
    }
  }

  /** Takes part in making connections; pass it to {@link Transport#listen}. */
  public ConnectionAcceptor acceptor() {
    return new Acceptor();
  }

  /** The connections that carry calls. */
  public List<RpcConnection> connections() {
    return receivers.values().stream().map(Receiver::connection).toList();
  }

  /** Ends all connections that carry calls. The listener is closed by its owner, before. */
  @Override
  public void close() {
    for (Map.Entry<QueuePair, Receiver> entry : receivers.entrySet()) {
      end(entry.getKey(), entry.getValue(), "the server stops");
    }
    if (poller != null) {
      poller.stop();
    } else {
      dataCompletions.close();
    }
  }

  private void end(QueuePair pair, Receiver receiver, String why) {
    receiver.connection.fail(why);
    if (receivers.remove(pair, receiver)) {
      try {
        services.of(receiver.connection.kind()).onDisconnected(receiver.connection);
      } finally {
        receiver.inbox.retire(receiver.connection);
      }
    }
  }

  /** Decides who may connect, and with what. */
  private final class Acceptor implements ConnectionAcceptor {
    @Override
    public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
      ConnectionInfo peer = ConnectionInfo.unpack(privateData, remoteName);
      ConnectionKind kind = ConnectionKind.of(peer.kind());
      if (kind != null) {
        return acceptCalls(remoteName, kind, peer);
      }
      if (peer.kind() == Layout.CONNECTION_DATA) {
        return acceptData(peer);
      }
      if (peer.kind() == Layout.CONNECTION_LOG && services.log() != null) {
        return acceptLog(peer);
      }
      throw new TakoException(
          Status.MALFORMED, remoteName + " asks for unknown connection kind " + peer.kind());
    }

    private Accept acceptCalls(String remoteName, ConnectionKind kind, ConnectionInfo peer)
        throws IOException {
      checkAdmission(remoteName, kind);
      Inbox inbox = eventDriven ? new Inbox(kind.completions()) : poller.inbox;
      if (eventDriven) {
        inbox.completions.onEvent(inbox::drain);
      }
      RpcConnection connection =
          new RpcConnection(
              transport,
              remoteName,
              new RpcConnection.Peer(kind, peer),
              epoch,
              inbox.completions,
              eventDriven);
      Accept accept =
          new Accept(
              new QueuePairConfig(
                  connection.domain(),
                  inbox.completions,
                  inbox.completions,
                  kind.sends(),
                  kind.slots),
              connection.ours().pack());
      accepted.put(accept, new Receiver(connection, inbox));
      return accept;
    }

    private void checkAdmission(String remoteName, ConnectionKind kind) throws TakoException {
      if (services.of(kind) == null) {
        throw new TakoException(
            Status.UNSUPPORTED,
            remoteName
                + " asks for a connection of kind "
                + kind
                + ", which this server does not accept");
      }
      boolean server = kind == ConnectionKind.SERVER || kind == ConnectionKind.CATALOG;
      if (receivers.size() + accepted.size() >= maxConnections + (server ? SERVERS_MAX : 0)) {
        throw new TakoException(
            Status.UNAVAILABLE,
            "the server has its "
                + maxConnections
                + " connections; close some or raise fs.tako.server.connections.max");
      }
    }

    private Accept acceptData(ConnectionInfo peer) throws IOException {
      ProtectionDomain domain = services.data().admitDataConnection(transport, peer.clientId());
      ConnectionInfo ours =
          ConnectionInfo.ours(Layout.CONNECTION_DATA, peer.clientId(), epoch, 0, 0);
      Accept accept =
          new Accept(
              new QueuePairConfig(domain, dataCompletions, dataCompletions, DATA_SENDS, 1),
              ours.pack());
      acceptedData.put(accept, peer);
      return accept;
    }

    private Accept acceptLog(ConnectionInfo peer) throws IOException {
      ProtectionDomain domain = services.log().admitLogConnection(transport, peer);
      ConnectionInfo ours = ConnectionInfo.ours(Layout.CONNECTION_LOG, 0, epoch, 0, 0);
      Accept accept =
          new Accept(
              new QueuePairConfig(domain, dataCompletions, dataCompletions, 1, 1), ours.pack());
      acceptedLog.put(accept, peer);
      return accept;
    }

    @Override
    public void onConnected(QueuePair pair, Accept accept) {
      Receiver receiver = accepted.remove(accept);
      if (receiver != null) {
        receivers.put(pair, receiver);
        receiver.connection.connected(pair, () -> end(pair, receiver, receiver.connection.fault()));
        return;
      }
      ConnectionInfo member = acceptedLog.remove(accept);
      if (member != null) {
        logPairs.add(pair);
        services.log().onLogConnected(pair, member);
        if (pair.state() != QueuePair.State.CONNECTED) {
          logPairs.remove(pair); // it came too late, and was closed
        }
        return;
      }
      ConnectionInfo client = acceptedData.remove(accept);
      dataPairs.put(pair, client.clientId());
      services.data().onDataConnected(transport, client, pair, accept.config().domain());
    }

    @Override
    public void onAborted(Accept accept) {
      Receiver receiver = accepted.remove(accept);
      if (receiver != null) {
        receiver.inbox.retire(receiver.connection);
      } else if (acceptedLog.remove(accept) == null && acceptedData.remove(accept) != null) {
        services.data().onDataAborted(transport, accept.config().domain());
      }
    }

    @Override
    public void onDisconnected(QueuePair pair) {
      Receiver receiver = receivers.get(pair);
      if (receiver != null) {
        end(pair, receiver, "disconnected: " + pair.errorText());
      }
      Long clientId = dataPairs.remove(pair);
      if (clientId != null) {
        services.data().onDataDisconnected(clientId, pair);
      }
      if (logPairs.remove(pair)) {
        services.log().onLogDisconnected(pair);
      }
    }
  }

  /** A completion queue and the connections that complete there. */
  private final class Inbox {
    private final CompletionQueue completions;
    private final List<RpcConnection> retired = new ArrayList<>();
    private final List<QueuePair> faulty = new ArrayList<>();
    private final Map<ConnectionKind, List<IncomingCall>> arrived =
        new EnumMap<>(ConnectionKind.class);

    /** Its only connection has ended. */
    private boolean over;

    Inbox(int capacity) {
      completions = transport.createCompletionQueue(capacity);
    }

    /** Handles all that has arrived; returns how many completions that were. */
    int drain() {
      int total = handleArrivals();
      releaseRetired();
      return total;
    }

    private synchronized int handleArrivals() {
      int total = 0;
      int count = 1;
      while (count > 0 && !over) {
        count = completions.poll(this::onCompletion, Layout.RPC_SLOTS);
        total += count;
        if (!arrived.isEmpty()) {
          handleArrived();
        }
        endFaulty();
      }
      return total;
    }

    private void handleArrived() {
      for (ConnectionKind kind : KINDS) {
        List<IncomingCall> calls = arrived.remove(kind);
        if (calls != null) {
          handle(kind, calls);
        }
      }
    }

    private void handle(ConnectionKind kind, List<IncomingCall> calls) {
      try {
        services.of(kind).onCalls(calls);
      } catch (RuntimeException e) {
        LOG.error("{} calls failed; their connections end", calls.size(), e);
        endAll(calls, e);
      } catch (Error e) {
        // The owner of the thread decides whether it can go on.
        endAll(calls, e);
        throw e;
      }
    }

    /**
     * A handler that fails may have answered some of its calls: all are sent again over another
     * connection.
     */
    private void endAll(List<IncomingCall> calls, Throwable why) {
      calls.forEach(call -> call.connection().end("the server failed: " + why));
    }

    private void onCompletion(
        QueuePair pair,
        long workRequestId,
        Opcode opcode,
        CompletionStatus status,
        int byteCount,
        int immediate) {
      Receiver receiver = receivers.get(pair);
      if (receiver == null) {
        onDataCompletion(pair, workRequestId, opcode, status, byteCount, immediate);
        return;
      }
      RpcConnection connection = receiver.connection;
      try {
        if (status == CompletionStatus.FLUSHED || status == CompletionStatus.RETRY_EXCEEDED) {
          connection.fail(pair.errorText());
        } else if (status != CompletionStatus.SUCCESS) {
          breaksRules(connection, connection.fail(status + " " + pair.errorText()));
        } else if (opcode == Opcode.RECEIVE_IMMEDIATE) {
          breaksRules(
              connection, !connection.receive(workRequestId, immediate, byteCount, this::arrived));
        }
      } catch (RuntimeException | Error e) {
        LOG.error("closing the connection of {}", connection.remoteName(), e);
        connection.fail("the server failed: " + e);
      }
      if (connection.fault() != null) {
        faulty.add(pair);
      }
    }

    private void arrived(IncomingCall call) {
      arrived.computeIfAbsent(call.connection().kind(), kind -> new ArrayList<>()).add(call);
    }

    private void breaksRules(RpcConnection connection, boolean broken) {
      if (broken) {
        LOG.warn("closing the connection of {}: {}", connection.remoteName(), connection.fault());
      }
    }

    private void endFaulty() {
      for (QueuePair pair : List.copyOf(faulty)) {
        Receiver receiver = receivers.get(pair);
        if (receiver != null) {
          end(pair, receiver, receiver.connection.fault());
        }
      }
      faulty.clear();
    }

    /** Releases the connection once nobody can be polling for it. */
    void retire(RpcConnection connection) {
      synchronized (this) {
        retired.add(connection);
        over = eventDriven;
      }
      if (eventDriven) {
        releaseRetired();
      } else {
        completions.wakeup();
      }
    }

    /** Without the lock: closing a pair may wait for a thread that wants it. */
    private void releaseRetired() {
      List<RpcConnection> releasing;
      synchronized (this) {
        releasing = List.copyOf(retired);
        retired.clear();
      }
      for (RpcConnection connection : releasing) {
        try {
          connection.release();
        } catch (RuntimeException | Error e) {
          LOG.error("releasing the connection of {}", connection.remoteName(), e);
        }
      }
    }
  }

  /** Receives for a transport that has no threads. */
  private final class Poller {
    private static final long IDLE_NS = 1_000_000_000;
    private static final long PAUSE_NS = 1_000_000;

    private final Inbox inbox =
        new Inbox(
            maxConnections * (ConnectionKind.RPC.completions() + DATA_SENDS + 1)
                + SERVERS_MAX * ConnectionKind.SERVER.completions());
    private final Thread thread = new Thread(this::run, "tako-rpc-" + transport.name());
    private volatile boolean stopped;

    Poller() {
      thread.setDaemon(true);
    }

    private void run() {
      while (!stopped) {
        try {
          if (inbox.drain() == 0) {
            inbox.completions.await(IDLE_NS);
          }
        } catch (RuntimeException | Error e) {
          // Without this thread nobody is served, and memory may be back in a moment.
          LOG.error("{} goes on after a failure", thread.getName(), e);
          LockSupport.parkNanos(PAUSE_NS);
        }
      }
      inbox.drain();
      inbox.completions.close();
    }

    void stop() {
      stopped = true;
      inbox.completions.wakeup();
      Interrupts.join(thread);
    }
  }
}
