package io.takofs.server.member;

import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.log.LogPeers;
import io.takofs.server.log.LogTransport;
import io.takofs.server.log.LogTransports;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.peer.PeerServers;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.Transport;
import io.takofs.transport.select.TransportSelector;
import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to the other members of a group. Who they are reached by is found out ahead, on threads
 * that may wait; answers are taken by the member's own thread with {@link #deliver}.
 *
 * <p>Thread rule: any thread.
 */
final class MemberLinks implements LogPeers {
  private static final Logger LOG = LoggerFactory.getLogger(MemberLinks.class);

  /** Sends under way on one connection at most: frames, a heartbeat, and some to spare. */
  private static final int SENDS_MAX = 16;

  private final Cluster cluster;
  private final PeerServers calls;
  private final LogTransports transports;
  private final TransportSelector selector;
  private final ExecutorService connecting;
  private final long timeoutNs;
  private final Runnable answered;
  private final Map<Integer, Route> routes = new ConcurrentHashMap<>();
  private final Map<Integer, Boolean> asking = new ConcurrentHashMap<>();
  private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();

  /** How a server is reached. */
  private record Route(ServerEntry server, Transport transport, LogTransport via, String endpoint) {
    boolean leadsTo(ServerEntry now) {
      return server.getHost().equals(now.getHost())
          && server.getPort() == now.getPort()
          && server.getEpoch() == now.getEpoch();
    }
  }

  /**
   * @param calls of this member alone; it runs no consumer but in {@link #deliver}
   * @param selector among the transports on which the log is registered
   * @param connecting threads that may wait
   * @param timeoutNs of one attempt to connect
   * @param answered runs when there is something to deliver; it must not wait
   */
  MemberLinks(
      Cluster cluster,
      PeerServers calls,
      LogTransports transports,
      TransportSelector selector,
      ExecutorService connecting,
      long timeoutNs,
      Runnable answered) {
    this.cluster = cluster;
    this.calls = calls;
    this.transports = transports;
    this.selector = selector;
    this.connecting = connecting;
    this.timeoutNs = timeoutNs;
    this.answered = answered;
    calls.onAnswered(answered);
  }

  @Override
  public void call(int server, Request request, Consumer<Reply> answer) {
    calls.call(
        server,
        request,
        reply -> {
          if (reply.getStatus() == Status.UNAVAILABLE) {
            routes.remove(server); // it may be reached another way by now, or not at all
          }
          answer.accept(reply);
        });
  }

  /** Runs the consumers of what has been answered by now. */
  void deliver() {
    calls.deliver();
    for (Runnable each = answers.poll(); each != null; each = answers.poll()) {
      each.run();
    }
  }

  /** Finds the way to {@code server} ahead, and connects for calls: an election must not wait. */
  void warm(int server) {
    transportTo(server);
    calls.warm(server);
  }

  @Override
  public LogTransport transportTo(int server) {
    ServerEntry entry = cluster.server(server).orElse(null);
    if (entry == null) {
      return null;
    }
    Route route = routes.get(server);
    if (route != null && route.leadsTo(entry)) {
      return route.via;
    }
    if (asking.putIfAbsent(server, true) == null) {
      inBackground(() -> findRoute(entry), () -> asking.remove(server));
    }
    return null;
  }

  private void inBackground(Runnable task, Runnable refused) {
    try {
      connecting.execute(task);
    } catch (RejectedExecutionException e) {
      refused.run(); // this server stops
    }
  }

  private void findRoute(ServerEntry server) {
    try {
      Route found =
          selector
              .connect(
                  ClusterTopology.endpoint(server),
                  timeoutNs,
                  null,
                  (transport, endpoint, limitNs) -> route(server, transport, endpoint))
              .connection();
      routes.put(server.getId(), found);
      answered.run();
    } catch (IOException | RuntimeException e) {
      LOG.debug("no way to server {} yet: {}", server.getId(), e.toString());
    } finally {
      asking.remove(server.getId());
    }
  }

  private Route route(ServerEntry server, Transport transport, String endpoint) throws IOException {
    LogTransport via = transports.find(transport.name());
    if (via == null) {
      throw new IOException("the log of this server is not registered with " + transport.name());
    }
    return new Route(server, transport, via, endpoint);
  }

  @Override
  public void connect(
      int server, LogTransport via, long term, long grant, Consumer<QueuePair> answer) {
    Route route = routes.get(server);
    if (route == null || route.via != via) {
      later(answer, null);
      return;
    }
    inBackground(() -> later(answer, connect(route, term, grant)), () -> later(answer, null));
  }

  /**
   * A connection for reading pages of {@code server}; waits until it stands.
   *
   * @param pages of this member, into which they are read
   * @param reads under way at most
   * @throws IOException when the server cannot be reached at the moment
   */
  PagesLink connectToPages(int server, PageExports pages, int reads) throws IOException {
    Route route = routes.get(server);
    if (route == null) {
      transportTo(server); // so that the next attempt has one
      throw new IOException("no way to server " + server + " is known yet");
    }
    PageExport via = pages.find(route.transport.name());
    try (Undo undo = new Undo()) {
      CompletionQueue queue = undo.add(route.transport.createCompletionQueue(reads + 1));
      QueuePairConfig config = new QueuePairConfig(via.domain(), queue, queue, reads, 1);
      QueuePair pair =
          route.transport.connect(
              route.endpoint, config, hello(route, 0, Layout.LOG_SNAPSHOT), timeoutNs);
      undo.keep();
      return new PagesLink(via, queue, pair);
    } catch (IOException | RuntimeException e) {
      routes.remove(server, route);
      throw e;
    }
  }

  private byte[] hello(Route route, long term, long grant) {
    int self = cluster.serverId();
    long proof = cluster.logProof(term, grant, self, route.server.getId());
    return ConnectionInfo.ours(Layout.CONNECTION_LOG, term, grant, proof, self).pack();
  }

  private void later(Consumer<QueuePair> answer, QueuePair pair) {
    answers.add(() -> answer.accept(pair));
    answered.run();
  }

  private QueuePair connect(Route route, long term, long grant) {
    int called = route.server.getId();
    QueuePairConfig config =
        new QueuePairConfig(route.via.domain(), route.via.queue(), route.via.queue(), SENDS_MAX, 1);
    try {
      return route.transport.connect(route.endpoint, config, hello(route, term, grant), timeoutNs);
    } catch (IOException | RuntimeException e) {
      routes.remove(called, route); // it may be reached another way by now
      LOG.debug("no connection to the log of server {}: {}", called, e.toString());
      return null;
    }
  }
}
