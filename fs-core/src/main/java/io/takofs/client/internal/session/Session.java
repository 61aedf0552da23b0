package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.CloseSession;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.rpc.Operations;
import io.takofs.transport.TransportCounters;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The calls of one client. Each has a number and a deadline; when the connection breaks, the call
 * reconnects and sends itself again under the same number, so that a change is executed exactly
 * once. When the server has forgotten the session, later calls open a new one, and a call whose
 * outcome is unknown fails and says so.
 *
 * <p>Thread rule: any thread.
 */
public final class Session implements AutoCloseable {
  private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);

  /**
   * Longest wait of a call for the reclaiming of deleted files, at most half of the call's time.
   */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

  private final Clock clock;
  private final SessionConnector connector;
  private final long timeoutNs;
  private final Backoff.Limits backoff;
  private final SlabCache slabs = new SlabCache();
  private final ClusterView cluster = new ClusterView(this);
  private final ServerLinks servers;
  private final HedgedReads hedgedReads;
  private final SilenceWatch silence;

  /** Calls hold the read lock; the write lock proves that none is in flight. */
  private final ReadWriteLock calling = new ReentrantReadWriteLock();

  private Runnable connected = () -> {};
  private volatile long lastUseNs;
  private volatile OpenSession lastOpen;

  /**
   * A session, which the first call opens.
   *
   * @param threads makes those that connect to servers while nobody waits for it
   */
  public Session(
      Connector connector,
      TakoConfig config,
      String user,
      String clientName,
      Clock clock,
      ThreadFactory threads) {
    this.clock = clock;
    this.timeoutNs = config.get(ConfigKeys.CLIENT_TIMEOUT).toNanos();
    this.backoff =
        new Backoff.Limits(
            config.get(ConfigKeys.CLIENT_BACKOFF_MIN).toNanos(),
            config.get(ConfigKeys.CLIENT_BACKOFF_MAX).toNanos());
    this.connector =
        new SessionConnector(
            connector,
            user,
            clientName,
            config.get(ConfigKeys.CLIENT_CONNECT_TIMEOUT).toNanos(),
            backoff,
            clock);
    this.servers = new ServerLinks(this, connector, cluster, threads);
    this.connector.onLeaving(servers::leave);
    this.silence = new SilenceWatch(this.connector, threads, clock);
    this.hedgedReads = new HedgedReads(config.get(ConfigKeys.HEDGED_READ_THRESHOLD).toNanos());
  }

  public HedgedReads hedgedReads() {
    return hedgedReads;
  }

  /** The time that deadlines are of. */
  public Clock clock() {
    return clock;
  }

  /** The places of the slabs that the replies of calls have shown. */
  public SlabCache slabs() {
    return slabs;
  }

  /** The servers that have the data of files. */
  public ServerLinks servers() {
    return servers;
  }

  /** Of the buffers for file data. */
  public MemoryBudget budget() {
    return connector.budget();
  }

  /** Counters of each transport that was used, by its name. */
  public Map<String, TransportCounters> transportCounters() {
    return connector.transportCounters();
  }

  /** The server, {@code host:port}. */
  public String server() {
    return connector.server();
  }

  /** A server, {@code host:port}, that refused a session because another has them; or null. */
  public String follower() {
    return connector.follower();
  }

  /** The open session, connected when there is none; within the time of one call. */
  public OpenSession open(String operation, String path) throws TakoException {
    return use(connector.get(deadline(), what(operation, path)));
  }

  /** Asks the server for the terms of {@code open} again: a data server refused their ticket. */
  void renewTerms(OpenSession open, long deadlineNs) throws TakoException {
    connector.renewTerms(open, deadlineNs);
  }

  /** The newest map of the cluster that a server has shown; without an epoch when none has. */
  ClusterMap map() {
    return connector.map();
  }

  /** A server has shown its map of the cluster. */
  void learn(ClusterMap shown) {
    connector.learn(shown);
    watchAgain();
  }

  /** Another map is known, so another server may lead where none could, or none any more. */
  private void watchAgain() {
    OpenSession open;
    do {
      open = lastOpen;
      silence.connected(open);
    } while (open != lastOpen); // another thread has connected meanwhile
  }

  private OpenSession use(OpenSession open) {
    lastUseNs = clock.nanoTime();
    if (open != lastOpen) {
      lastOpen = open;
      silence.connected(open);
      connected.run();
      servers.introduce(open);
    }
    return open;
  }

  /**
   * Ends the session if nothing has used it for so long. Files that are read go on under the next
   * one; none may be open for writing.
   *
   * @return nanoseconds until it is worth asking again, 0 when there is no connection any more
   */
  long closeWhenIdleFor(long idleNs) {
    if (!calling.writeLock().tryLock()) {
      return idleNs;
    }
    try {
      long leftNs = idleNs - (clock.nanoTime() - lastUseNs);
      if (leftNs > 0) {
        return leftNs;
      }
      lastOpen = null;
      servers.close();
      OpenSession open = connector.leave();
      if (open != null) {
        end(open);
      }
      connector.rest();
      return 0;
    } finally {
      calling.writeLock().unlock();
    }
  }

  /** Runs {@code listener} when a new connection is used first; before the first call. */
  public void onConnected(Runnable listener) {
    connected = listener;
  }

  /** When a call that begins now must be over, of the clock. */
  public long deadline() {
    return clock.nanoTime() + timeoutNs;
  }

  /** Calls under whatever session there is; returns the reply, whose status is OK. */
  public Reply call(String operation, String path, Request.Builder request) throws TakoException {
    return call(operation, path, request, null).reply();
  }

  /**
   * Calls.
   *
   * @param operation and {@code path}, for messages
   * @param request changed by this: its acknowledgement is filled in
   * @param owner the session the call is good for, null for any: a commit makes sense only under
   *     the session that holds the lease
   * @throws TakoException with the reply's status when it is not OK; SESSION_EXPIRED when the owner
   *     is gone, or when the session ended while the outcome was unknown; DEADLINE_EXCEEDED
   */
  public SessionReply call(
      String operation, String path, Request.Builder request, SessionIdentity owner)
      throws TakoException {
    String what = what(operation, path);
    if (!UnicodeText.isWellFormed(what)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          what + ": the path has half of a surrogate pair, which no UTF-8 can express; rename it");
    }
    long deadline = deadline();
    long patienceEnd = clock.nanoTime() + Math.min(PATIENCE_NS, timeoutNs / 2);
    Attempt attempt = new Attempt(what, request, owner);
    Backoff pause = new Backoff(backoff, clock);
    Backoff search = null;
    if (!Interrupts.await(
        clock, deadline, left -> calling.readLock().tryLock(left, TimeUnit.NANOSECONDS))) {
      throw new TakoException(
          Status.DEADLINE_EXCEEDED, what + ": the session was being ended all the time");
    }
    try {
      while (true) {
        OpenSession open = use(connect(attempt, deadline));
        boolean saidToHaveWaited = request.getHasWaited();
        Reply reply = send(attempt, open, deadline);
        if (reply.getStatus() == Status.OK) {
          slabs.add(reply.getSlabsList());
          if (connector.told(open, reply.getMapEpoch())) {
            watchAgain();
          }
          return new SessionReply(reply, open.identity(), open.terms());
        }
        switch (reply.getStatus()) {
          case DISCONNECTED -> connector.drop(open);
          case NOT_LEADER -> {
            connector.redirect(open, reply, deadline);
            if (search == null) {
              search = new Backoff(backoff.atMost(SessionConnector.SEARCH_PAUSE_NS), clock);
            }
            if (!search.sleep(deadline)) {
              throw attempt.unsent(leaderless(what, reply, deadline - timeoutNs));
            }
            continue;
          }
          case SESSION_EXPIRED -> connector.forget(open);
          case UNAVAILABLE ->
              request.setHasWaited(saidToHaveWaited || clock.nanoTime() - patienceEnd >= 0);
          default -> throw failure(what, reply);
        }
        if (!pause.sleep(deadline)) {
          if (reply.getStatus() != Status.UNAVAILABLE || saidToHaveWaited) {
            throw failure(what, reply);
          }
          request.setHasWaited(true); // with a last attempt
        }
      }
    } finally {
      attempt.end();
      lastUseNs = clock.nanoTime();
      calling.readLock().unlock();
    }
  }

  /**
   * Sends once. Before the first time it asks whether the session is still at its server, if that
   * is in doubt: when the session has ended, a change that gets no answer has an unknown outcome.
   */
  private Reply send(Attempt attempt, OpenSession open, long deadline) throws TakoException {
    long nowNs = clock.nanoTime();
    if (attempt.isUnsentChange() && open.isInDoubt(nowNs)) {
      Attempt question =
          new Attempt(
              attempt.what + " was not sent, because its session may be gone",
              Request.newBuilder().setRenewLeases(RenewLeases.getDefaultInstance()),
              null);
      Reply answer = sendWatched(question, open, deadline, nowNs);
      if (answer.getStatus() != Status.OK) {
        return answer;
      }
    }
    return sendWatched(attempt, open, deadline, nowNs);
  }

  private Reply sendWatched(Attempt attempt, OpenSession open, long deadline, long nowNs)
      throws TakoException {
    boolean watched = silence.began(open);
    try {
      Reply reply = attempt.send(open, deadline);
      if (attempt.showsSession(reply)) {
        open.seen(nowNs);
      }
      return reply;
    } finally {
      if (watched) {
        silence.ended(open);
      }
    }
  }

  private OpenSession connect(Attempt attempt, long deadline) throws TakoException {
    try {
      return connector.get(deadline, attempt.what);
    } catch (TakoException e) {
      throw attempt.unsent(e);
    }
  }

  private TakoException leaderless(String what, Reply reply, long beganNs) {
    String message = "no server leads: " + reply.getMessage();
    return new TakoException(
        Status.UNAVAILABLE, what + ": " + message + connector.others(beganNs, message));
  }

  private static TakoException failure(String what, Reply reply) {
    return new TakoException(reply.getStatus(), what + ": " + reply.getMessage());
  }

  private String what(String operation, String path) {
    return operation + (path.isEmpty() ? "" : " " + path) + " on " + server();
  }

  /** The terms of the last opening or resumption of the session; only after the first call. */
  public SessionTerms terms() {
    return connector.terms();
  }

  /** The data zone if there is one and it is open, else null. */
  public DataZone openZone() {
    return connector.openZone();
  }

  /**
   * The transport to the server and the reason for its choice; empty before the first connection.
   */
  public String transportVerdict() {
    return connector.transportVerdict();
  }

  /** Ends the session at the server, if it can be told, and the connection. */
  @Override
  public void close() {
    silence.close();
    servers.close();
    OpenSession open = connector.shut();
    if (open != null) {
      end(open);
      connector.close();
    }
  }

  private void end(OpenSession open) {
    try {
      Request request =
          Request.newBuilder().setCloseSession(CloseSession.getDefaultInstance()).build();
      open.connection()
          .call(
              open.identity().clientId(),
              CallNumbers.UNRECORDED,
              request,
              clock.nanoTime() + Math.min(timeoutNs, CLOSE_TIMEOUT_NS));
    } catch (TakoException e) {
      // The server ends the session by itself when the connection is gone.
      open.failed(e);
    } finally {
      open.close();
    }
  }

  /** One call and its number, which moves to another session only while nothing can have run. */
  private static final class Attempt {
    private final String what;
    private final Request.Builder request;
    private final SessionIdentity owner;
    private final boolean changing;
    private SessionIdentity identity;
    private long sequence;
    private TakoException doubt;

    Attempt(String what, Request.Builder request, SessionIdentity owner) {
      this.what = what;
      this.request = request;
      this.owner = owner;
      this.changing = Operations.isMutation(request.getOperationCase());
    }

    /** Whether it has a number, and no server can have executed it yet. */
    boolean isUnsentChange() {
      return changing && doubt == null;
    }

    /** Whether only a server that has the caller's session gives such a reply. */
    boolean showsSession(Reply reply) {
      return switch (reply.getStatus()) {
        case NOT_LEADER, SESSION_EXPIRED, DISCONNECTED, UNAVAILABLE, INTERNAL -> false;
        default -> !Operations.isForAnyServer(request.getOperationCase());
      };
    }

    /**
     * Sends once; a connection that breaks makes a reply that says so. A server that ceased to lead
     * may have executed the call, and its successor know of that.
     */
    Reply send(OpenSession open, long deadline) throws TakoException {
      if (identity != open.identity()) {
        moveTo(open.identity(), deadline);
      }
      if (changing) {
        request.setAcknowledgedBelow(identity.numbers().acknowledgedBelow());
      }
      try {
        Reply reply =
            open.connection().call(identity.clientId(), sequence, request.build(), deadline);
        if (reply.getStatus() == Status.NOT_LEADER && !reply.getNotExecuted()) {
          doubt = new TakoException(Status.NOT_LEADER, reply.getMessage());
        }
        return reply;
      } catch (TakoException e) {
        if (e.status() != Status.DISCONNECTED) {
          throw new TakoException(e.status(), what + ": " + e.getMessage(), e);
        }
        doubt = e;
        return Reply.newBuilder().setStatus(e.status()).setMessage(e.getMessage()).build();
      }
    }

    /** The failure to report when it cannot be sent (again): it says nothing of an earlier time. */
    TakoException unsent(TakoException failure) {
      if (doubt == null || !changing) {
        return failure;
      }
      return new TakoException(
          failure.status(),
          failure.getMessage()
              + "; "
              + reasonOfDoubt()
              + " while the operation was under way: whether it was executed is unknown, look"
              + " before doing it again",
          failure);
    }

    private String reasonOfDoubt() {
      return doubt.status() == Status.NOT_LEADER
          ? "the server ceased to lead"
          : "the connection broke";
    }

    private void moveTo(SessionIdentity next, long deadline) throws TakoException {
      if (owner != null && owner != next) {
        throw new TakoException(
            Status.SESSION_EXPIRED,
            what
                + ": the server ended the session that opened this file, and with it its lease;"
                + " what was flushed before is kept");
      }
      if (doubt != null && changing) {
        throw new TakoException(
            Status.SESSION_EXPIRED,
            what
                + ": "
                + reasonOfDoubt()
                + " and the session was ended meanwhile; whether the operation was executed is"
                + " unknown, look before doing it again",
            doubt);
      }
      end();
      identity = null;
      try {
        sequence = changing ? next.numbers().begin(deadline) : next.numbers().ofQuery();
      } catch (TakoException e) {
        throw new TakoException(e.status(), what + ": " + e.getMessage(), e);
      }
      identity = next;
    }

    void end() {
      if (identity != null && changing) {
        identity.numbers().end(sequence);
      }
    }
  }
}
