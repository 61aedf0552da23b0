package io.takofs.server.peer;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Another server, as a thread that makes one call after the other: no answer of a data server waits
 * for anything, so a round trip is all that a call takes. It connects with the first call, and
 * while the server cannot be reached its calls are answered UNAVAILABLE at once.
 *
 * <p>Thread rule: any thread.
 */
final class RemoteDataServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteDataServer.class);

  /** Calls that wait at most; those after them are answered UNAVAILABLE. */
  static final int WAITING_MAX = 1024;

  private static final long BACKOFF_MIN_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final ServerEntry server;
  private final Cluster cluster;
  private final Transport transport;
  private final Clock clock;
  private final Patience patience;
  private final BlockingQueue<Call> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
  private final Thread thread;
  private volatile boolean stopped;
  private volatile RpcClient client;
  private long sequence;
  private String problem;
  private long backoffNs;
  private long retryNs; // no attempt to connect before

  /**
   * A request and the consumer of its reply, which runs on the thread of the server; without a
   * request only the connection is wanted.
   */
  private record Call(Request request, long deadlineNs, Consumer<Reply> answer) {}

  /**
   * @param transport over which to connect; it outlives this
   */
  RemoteDataServer(
      ServerEntry server, Cluster cluster, Transport transport, Clock clock, Patience patience) {
    this.patience = patience;
    this.server = server;
    this.cluster = cluster;
    this.transport = transport;
    this.clock = clock;
    this.thread = new Thread(this::run, "tako-server-" + server.getId());
    thread.setDaemon(true);
    thread.start();
  }

  /** The server's entry in the map. */
  ServerEntry entry() {
    return server;
  }

  /** Asks; {@code answer} runs once, here or on the thread of the server, and must not wait. */
  void call(Request request, Consumer<Reply> answer) {
    if (stopped) {
      answer.accept(unavailable("this server stops"));
    } else if (!waiting.offer(new Call(request, clock.nanoTime() + patience.timeoutNs(), answer))) {
      answer.accept(unavailable(WAITING_MAX + " calls wait for it already"));
    } else if (stopped) {
      refuseWaiting("this server stops");
    }
  }

  /** Connects if it is not connected, so that the next call need not. */
  void warm() {
    RpcClient now = client;
    if (waiting.isEmpty() && (now == null || !now.isConnected())) {
      call(null, reply -> {});
    }
  }

  private Reply unavailable(String why) {
    return Reply.newBuilder()
        .setStatus(Status.UNAVAILABLE)
        .setMessage("server " + server.getId() + " at " + endpoint() + " cannot be asked: " + why)
        .build();
  }

  private String endpoint() {
    return ClusterTopology.endpoint(server);
  }

  // ---- its thread -------------------------------------------------------------------------------

  private void run() {
    while (!stopped) {
      try {
        Call call = waiting.take();
        call.answer.accept(execute(call));
      } catch (InterruptedException e) {
        // Only close() does that; the loop looks whether it did.
      } catch (RuntimeException | Error e) {
        LOG.error("{} goes on after a failure", thread.getName(), e);
      }
    }
    disconnect();
    refuseWaiting("this server stops");
  }

  private Reply execute(Call call) {
    boolean connected = client != null && client.isConnected();
    long now = clock.nanoTime();
    if (!connected && problem != null && now - retryNs < 0) {
      return unavailable(problem);
    }
    if (now - call.deadlineNs >= 0) {
      return unavailable("it did not answer the calls before in time");
    }
    try {
      if (!connected) {
        connect();
      }
      return call.request == null
          ? Reply.getDefaultInstance()
          : client.call(0, ++sequence, call.request, call.deadlineNs);
    } catch (IOException | RuntimeException | Error e) {
      failed(e);
      return unavailable(problem);
    }
  }

  private void connect() throws IOException {
    disconnect();
    RpcTarget target =
        new RpcTarget(ConnectionKind.SERVER, endpoint(), "server " + server.getId(), 0);
    client = RpcClient.connect(transport, target, patience.timeoutNs(), clock);
    openSession();
    if (problem != null) {
      facts().info(LOG, "a server is reached again");
    }
    problem = null;
    backoffNs = 0;
  }

  /** Takes two calls: the signed text contains a number that the called server has just drawn. */
  private void openSession() throws TakoException {
    OpenServerSession session =
        OpenServerSession.newBuilder()
            .setProtocolVersion(Layout.PROTOCOL_VERSION)
            .setLayoutHash(Layout.LAYOUT_HASH)
            .setClusterId(cluster.map().getClusterId())
            .setServer(cluster.serverId())
            .setCalled(server.getId())
            .build();
    long challenge = open(session).getChallenge();
    open(cluster.sign(session.toBuilder().setChallenge(challenge).build(), server.getId()));
  }

  private Reply open(OpenServerSession session) throws TakoException {
    Request open = Request.newBuilder().setOpenServerSession(session).build();
    Reply reply = client.call(0, ++sequence, open, clock.nanoTime() + patience.timeoutNs());
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    return reply;
  }

  /** A connection on which a call failed is not used again: its session may be unknown there. */
  private void failed(Throwable why) {
    disconnect();
    String text = why.getMessage() == null ? why.toString() : why.getMessage();
    if (problem == null && !stopped) {
      facts().warn(LOG, "a server cannot be reached: " + text);
    }
    problem = text;
    backoffNs = Math.min(patience.backoffMaxNs(), Math.max(BACKOFF_MIN_NS, 2 * backoffNs));
    retryNs = clock.nanoTime() + backoffNs;
  }

  private Facts facts() {
    return Facts.of("server", server.getId()).and("endpoint", endpoint());
  }

  private void disconnect() {
    if (client != null) {
      client.close();
      client = null;
    }
  }

  private void refuseWaiting(String why) {
    for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
      call.answer.accept(unavailable(why));
    }
  }

  /** Ends its thread soon, after the call that is under way; what waits is answered. */
  void stop() {
    stopped = true;
    thread.interrupt();
  }

  /** Stops, and waits for that. */
  @Override
  public void close() {
    stop();
    RpcClient connected = client;
    if (connected != null) {
      connected.close(); // ends the call that is under way
    }
    Interrupts.join(thread);
  }
}
