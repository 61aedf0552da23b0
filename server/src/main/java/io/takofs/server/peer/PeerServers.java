package io.takofs.server.peer;

import io.takofs.base.Clock;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.transport.Transport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The servers of the cluster's map. The answers of others wait in a queue until the owner of the
 * group takes them with {@link #deliver}; it is told when there are some.
 *
 * <p>Thread rule: that of {@link DataServers}; {@link #close} from one thread, without the group's
 * lock.
 */
public final class PeerServers implements DataServers, AutoCloseable {
  private final Cluster cluster;
  private final Function<Request, Reply> local;
  private final Transport transport;
  private final Clock clock;
  private final Patience patience;
  private final Map<Integer, RemoteDataServer> remote = new HashMap<>(); // guarded by itself
  private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();
  private volatile Runnable answered = () -> {};
  private boolean closed; // guarded by remote

  /**
   * @param local executes requests to the data zone of this server, and does not wait
   * @param transport to other servers; it outlives this
   */
  public PeerServers(
      Cluster cluster, Function<Request, Reply> local, Transport transport, Clock clock) {
    this(cluster, local, transport, clock, Patience.OF_LEADERS);
  }

  /**
   * As the other.
   *
   * @param patience with servers that do not answer
   */
  public PeerServers(
      Cluster cluster,
      Function<Request, Reply> local,
      Transport transport,
      Clock clock,
      Patience patience) {
    this.patience = patience;
    this.cluster = cluster;
    this.local = local;
    this.transport = transport;
    this.clock = clock;
  }

  /** Runs {@code listener} when there are answers, on any thread; it must not wait. */
  public void onAnswered(Runnable listener) {
    answered = listener;
  }

  @Override
  public void call(int serverId, Request request, Consumer<Reply> answer) {
    if (serverId == cluster.serverId()) {
      answer.accept(local.apply(request));
      return;
    }
    ServerEntry entry = expected(serverId).orElse(null);
    if (entry == null) {
      boolean lost = cluster.server(serverId).isPresent();
      later(answer, lost ? lost(serverId) : LocalDataServer.unknown(serverId));
      return;
    }
    remote(entry).call(request, reply -> later(answer, reply));
  }

  private static Reply lost(int serverId) {
    return Reply.newBuilder()
        .setStatus(Status.UNAVAILABLE)
        .setMessage(
            "server " + serverId + " is LOST, and is called again when it starts with its pool")
        .build();
  }

  /** Connects to {@code serverId} in the background, so that a call to it need not. */
  public void warm(int serverId) {
    if (serverId != cluster.serverId()) {
      expected(serverId).ifPresent(entry -> remote(entry).warm());
    }
  }

  private void later(Consumer<Reply> answer, Reply reply) {
    answers.add(() -> answer.accept(reply));
    answered.run();
  }

  private RemoteDataServer remote(ServerEntry entry) {
    synchronized (remote) {
      RemoteDataServer known = remote.get(entry.getId());
      if (known == null || (!closed && !isSame(known.entry(), entry))) {
        RemoteDataServer next = new RemoteDataServer(entry, cluster, transport, clock, patience);
        remote.put(entry.getId(), next);
        if (known == null) {
          forgetGone();
        } else {
          known.stop();
        }
        if (closed) {
          next.stop();
        }
        return next;
      }
      return known;
    }
  }

  /** Ends the threads of servers that do not come back. */
  private void forgetGone() {
    List<Integer> gone = remote.keySet().stream().filter(id -> expected(id).isEmpty()).toList();
    gone.forEach(id -> remote.remove(id).stop());
  }

  /** The server, unless it is lost, or in the map no more. */
  private Optional<ServerEntry> expected(int serverId) {
    return cluster.server(serverId).filter(entry -> entry.getState() != ServerEntry.State.LOST);
  }

  private static boolean isSame(ServerEntry known, ServerEntry now) {
    return known.getHost().equals(now.getHost()) && known.getPort() == now.getPort();
  }

  @Override
  public List<ServerEntry> servers() {
    return cluster.map().getServersList();
  }

  @Override
  public void emptied(int serverId) {
    cluster.emptied(serverId);
  }

  @Override
  public void deliver() {
    for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
      answer.run();
    }
  }

  /** Ends the connections; what is asked from now on is answered UNAVAILABLE. */
  @Override
  public void close() {
    List<RemoteDataServer> closing;
    synchronized (remote) {
      closed = true;
      closing = new ArrayList<>(remote.values());
    }
    closing.forEach(RemoteDataServer::close);
  }
}
