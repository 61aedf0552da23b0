package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.layout.Layout;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.select.TransportLostException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one open session at the server: connected when it is first wanted, made again when it
 * broke.
 *
 * <p>Thread rule: any thread; one of them connects while the others wait.
 */
final class SessionConnector {
  private static final Logger LOG = LoggerFactory.getLogger(SessionConnector.class);

  /** Time for one step on the way back to the server, however short a session lives. */
  private static final long SHARE_MIN_NS = TimeUnit.SECONDS.toNanos(1);

  /** Longest pause while a leader is looked for: another one is there within some 100 ms. */
  static final long SEARCH_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * But for the first attempt, and one at a leader that was just named, none begins in the last one
   * of so many parts of the time, or {@link LeaderSearch#LEAST_NS} before its end.
   */
  private static final int LAST_PART = 5;

  /** Of the map of a server that has no cluster. */
  private static final long LONE_MAP_EPOCH = 1;

  private final Clock clock;
  private final Connector connector;
  private final String user;
  private final String clientName;
  private final long connectTimeoutNs;
  private final Backoff.Limits backoff;
  private final LeaderSearch search;
  private final LeaderInquiry inquiry;
  private final ReentrantLock connecting = new ReentrantLock();
  private volatile OpenSession current;
  private final AtomicReference<SessionIdentity> identity = new AtomicReference<>();
  private volatile BiConsumer<OpenSession, DataZone> leaving = (open, left) -> left.close();
  private volatile boolean shut;
  private long lostSinceNs; // 0: the session's transport works; with the lock "connecting"
  private String named = ""; // as the leader by the last refusal; with the lock "connecting"
  private volatile String verdict = "";
  private volatile String follower; // a server that has no sessions and said so; null for none

  SessionConnector(
      Connector connector,
      String user,
      String clientName,
      long connectTimeoutNs,
      Backoff.Limits backoff,
      Clock clock) {
    this.clock = clock;
    this.connector = connector;
    this.user = user;
    this.clientName = clientName;
    this.connectTimeoutNs = connectTimeoutNs;
    this.backoff = backoff;
    this.search = new LeaderSearch(connector, clock);
    this.inquiry = new LeaderInquiry(connector, search, clock);
  }

  /** Gives {@code listener} the data zone that a session leaves at a server. */
  void onLeaving(BiConsumer<OpenSession, DataZone> listener) {
    leaving = listener;
  }

  /** The newest map of the cluster that a server has shown; without an epoch when none has. */
  ClusterMap map() {
    return search.map();
  }

  /** A server has shown its map of the cluster. */
  void learn(ClusterMap shown) {
    search.learn(shown);
  }

  String server() {
    return connector.server();
  }

  /** The terms that the server gave on the present connection, or on the last one. */
  SessionTerms terms() {
    OpenSession open = current;
    return open == null ? SessionTerms.getDefaultInstance() : open.terms();
  }

  /** The data zone if there is one and it is open, else null. */
  DataZone openZone() {
    OpenSession open = current;
    return open == null ? null : open.openZone();
  }

  MemoryBudget budget() {
    return connector.budget();
  }

  Map<String, TransportCounters> transportCounters() {
    return connector.counters();
  }

  String transportVerdict() {
    return verdict;
  }

  /** A server, {@code host:port}, that refused a session because another has them; or null. */
  String follower() {
    return follower;
  }

  /**
   * The open session, connecting until the deadline when there is none.
   *
   * @param what the operation it is for, for errors
   */
  OpenSession get(long deadlineNs, String what) throws TakoException {
    OpenSession open = current;
    if (open != null && open.connection().isOpen()) {
      return open;
    }
    if (!Interrupts.await(
        clock, deadlineNs, left -> connecting.tryLock(left, TimeUnit.NANOSECONDS))) {
      throw new TakoException(
          Status.DEADLINE_EXCEEDED, what + ": no connection to the server in time");
    }
    try {
      open = current;
      if (open == null || !open.connection().isOpen()) {
        drop(open);
        open = connectUntil(deadlineNs, what);
        current = open;
      }
      return open;
    } finally {
      connecting.unlock();
    }
  }

  private OpenSession connectUntil(long deadlineNs, String what) throws TakoException {
    long now = clock.nanoTime();
    // A client that was never connected learns soon that no server is there.
    long patience =
        identity.get() == null ? Math.min(deadlineNs - now, connectTimeoutNs) : deadlineNs - now;
    long lastBeginNs = now + patience - Math.min(LeaderSearch.LEAST_NS, patience / LAST_PART);
    Backoff pause = null;
    IOException failure = null;
    boolean redirected = false;
    Set<String> asked = new HashSet<>();
    try (Interrupts interrupts = new Interrupts()) {
      while (true) {
        if (shut) {
          throw new TakoException(Status.UNAVAILABLE, what + ": the client is closed");
        }
        interrupts.putOff(); // an attempt that one ended is made again
        asked.add(server());
        try {
          return connect(deadlineNs, now + patience);
        } catch (IOException e) {
          forgetLostSession(e);
          // A server without sessions only names the one that failed before.
          failure = failure != null && isRedirection(e) ? failure : e;
          boolean straight = !redirected && leadsElsewhere(e);
          redirected = straight;
          // One with too little time would say nothing of a server that was not just named.
          if (!straight && clock.nanoTime() - lastBeginNs >= 0) {
            throw unconnected(what, failure, now);
          }
          boolean anew = identity.get() != null && worthRetrying(e) && !asked.contains(server());
          if (straight || anew) {
            continue; // to the leader that was named, or one that was not asked yet
          }
          pause = pause == null ? new Backoff(pauses(), clock) : pause;
          if (!worthRetrying(e) || !pause.sleep(lastBeginNs)) {
            throw unconnected(what, failure, now);
          }
          LOG.debug("connecting again to {}: {}", server(), e.getMessage());
        }
      }
    }
  }

  /** Between attempts: short ones while another server may lead, or soon will. */
  private Backoff.Limits pauses() {
    return search.hasOthers(server()) ? backoff.atMost(SEARCH_PAUSE_NS) : backoff;
  }

  private TakoException unconnected(String what, IOException failure, long beganNs) {
    long triedMs = TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - beganNs);
    String message = failure.getMessage() + tried(triedMs);
    return new TakoException(
        statusOf(failure), what + ": " + message + search.others(beganNs, message), failure);
  }

  /** The time that all attempts took, where the message of the last one says less. */
  private static String tried(long ms) {
    return ms == 0 ? "" : " (tried for " + ms + " ms)";
  }

  /** Whether the server that refused a session has named the one that is asked next. */
  private boolean leadsElsewhere(IOException failure) {
    return isRedirection(failure) && named.equals(server());
  }

  private static boolean isRedirection(IOException failure) {
    return failure instanceof TakoException e && e.status() == Status.NOT_LEADER;
  }

  /** Whether the server that leads has ended the session: it opens another one. */
  private static boolean hasEnded(IOException failure) {
    return failure instanceof TakoException e && e.status() == Status.SESSION_EXPIRED;
  }

  /** The status of a call that could not be sent and so has had no effect. */
  private static Status statusOf(IOException failure) {
    boolean known =
        failure instanceof TakoException e
            && e.status() != Status.DISCONNECTED
            && e.status() != Status.NOT_LEADER;
    return known ? ((TakoException) failure).status() : Status.UNAVAILABLE;
  }

  /**
   * A server that answers, but not over the session's transport, has ended the session once it has
   * missed its client for long enough: then another transport will do.
   */
  private void forgetLostSession(IOException failure) {
    if (!(failure instanceof TransportLostException)) {
      return;
    }
    long now = clock.nanoTime();
    lostSinceNs = lostSinceNs == 0 ? now : lostSinceNs;
    long lifeNs = TimeUnit.MILLISECONDS.toNanos(terms().getSessionTtlMs());
    if (now - lostSinceNs > lifeNs) {
      LOG.warn("the session at {} is lost: {}", server(), failure.getMessage());
      identity.set(null);
      lostSinceNs = 0;
    }
  }

  /** Whether the same attempt may succeed a little later: a server that starts again is quick. */
  private boolean worthRetrying(IOException e) {
    if (!(e instanceof TakoException known)) {
      return true;
    }
    return switch (known.status()) {
      case VERSION_MISMATCH, MALFORMED, INVALID_ARGUMENT, PERMISSION_DENIED -> false;
      // A server that stops takes its shared memory away before it is gone.
      case UNSUPPORTED -> identity.get() != null;
      default -> true;
    };
  }

  private OpenSession connect(long deadlineNs, long patienceEndNs) throws IOException {
    SessionIdentity resumed = identity.get();
    String asked = server();
    try {
      long now = clock.nanoTime();
      long wholeNs = resumed == null ? connectTimeoutNs : resumeTimeoutNs();
      long attemptNs = search.share(Math.min(deadlineNs - now, wholeNs), patienceEndNs - now);
      OpenSession open = connect(resumed, now + attemptNs);
      search.found();
      return open;
    } catch (IOException e) {
      if (!isRedirection(e) && !hasEnded(e)) {
        search.failed(asked, e.getMessage());
      }
      throw e;
    }
  }

  private OpenSession connect(SessionIdentity resumed, long attemptDeadline) throws IOException {
    ServerConnection connection =
        attempt(resumed == null ? 0 : resumed.clientId(), attemptDeadline);
    OpenSession open = null;
    try {
      open = resume(connection, resumed, attemptDeadline);
      identity.set(open.identity());
      lostSinceNs = 0;
      verdict = connection.transportVerdict();
      return open;
    } finally {
      if (open == null) {
        connection.close();
      }
    }
  }

  /** The time of one attempt, which leaves some for another while the server keeps the session. */
  private long resumeTimeoutNs() {
    return Math.min(connectTimeoutNs, 2 * shareOfLife(terms()));
  }

  /**
   * Nanoseconds that one step on the way back to the server may take, so that another way is tried
   * before the session ends: a quarter of what it lives without its client, and no less than a busy
   * machine needs for a connection.
   */
  static long shareOfLife(SessionTerms terms) {
    return Math.max(SHARE_MIN_NS, TimeUnit.MILLISECONDS.toNanos(terms.getSessionTtlMs()) / 4);
  }

  private ServerConnection attempt(long clientId, long deadlineNs) throws IOException {
    try {
      return connector.connect(clientId, deadlineNs);
    } catch (UncheckedIOException e) {
      // Memory or another resource of the machine is short, which may end.
      throw new IOException(e.getMessage(), e);
    }
  }

  private Request opening() {
    return Request.newBuilder()
        .setOpenSession(
            OpenSessionRequest.newBuilder()
                .setProtocolVersion(Layout.PROTOCOL_VERSION)
                .setLayoutHash(Layout.LAYOUT_HASH)
                .setUser(user)
                .setClientName(clientName)
                .setConnectTimeoutMs(TimeUnit.NANOSECONDS.toMillis(connectTimeoutNs)))
        .build();
  }

  /**
   * Resumes {@code open} on the connection that it has, for terms with a ticket that is good now.
   *
   * @throws TakoException when the server refuses it or cannot be reached
   */
  void renewTerms(OpenSession open, long deadlineNs) throws TakoException {
    Reply reply =
        open.connection()
            .call(open.identity().clientId(), CallNumbers.UNRECORDED, opening(), deadlineNs);
    if (reply.getStatus() == Status.NOT_LEADER) {
      redirect(open, reply, deadlineNs);
      throw new TakoException(Status.DISCONNECTED, "the session moves: " + reply.getMessage());
    }
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), server() + ": " + reply.getMessage());
    }
    open.take(reply.getSession());
  }

  private OpenSession resume(ServerConnection connection, SessionIdentity resumed, long deadlineNs)
      throws TakoException {
    long clientId = resumed == null ? 0 : resumed.clientId();
    long askedNs = clock.nanoTime();
    Reply reply = connection.call(clientId, CallNumbers.UNRECORDED, opening(), deadlineNs);
    if (reply.getStatus() == Status.SESSION_EXPIRED) {
      identity.set(null);
    }
    if (reply.getStatus() == Status.NOT_LEADER) {
      throw redirected(connection, reply, deadlineNs);
    }
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    SessionIdentity opened =
        resumed != null
            ? resumed
            : new SessionIdentity(reply.getSession().getClientId(), new CallNumbers(clock));
    OpenSession open = new OpenSession(connection, opened, reply.getSession(), askedNs);
    if (isNews(reply.getMapEpoch())) {
      learnFrom(open, deadlineNs);
    }
    return open;
  }

  /**
   * The server of {@code open} has told that it has the map of this epoch: asks for it if it is a
   * newer one, for whom to ask when that server does not answer any more.
   *
   * @return whether another map is known now
   */
  boolean told(OpenSession open, long mapEpoch) {
    if (!isNews(mapEpoch)) {
      return false;
    }
    learnFrom(open, clock.nanoTime() + SHARE_MIN_NS);
    return !isNews(mapEpoch);
  }

  private boolean isNews(long mapEpoch) {
    return mapEpoch > Math.max(LONE_MAP_EPOCH, search.map().getEpoch());
  }

  private void learnFrom(OpenSession open, long deadlineNs) {
    try {
      inquiry.learnFrom(open.connection(), deadlineNs);
    } catch (TakoException e) {
      open.failed(e); // the next call tries again
    }
  }

  /** A server that has no sessions says which one has; the next attempt goes there. */
  private TakoException redirected(ServerConnection connection, Reply refusal, long deadlineNs)
      throws TakoException {
    String asked = server();
    follower = asked;
    inquiry.learnFrom(connection, deadlineNs);
    String leader = search.address(refusal.getLeader());
    named = leader;
    String text =
        (leader.isEmpty() ? "it does not know which server has sessions" : "it names " + leader)
            + (refusal.getMessage().isEmpty() ? "" : ": " + refusal.getMessage());
    search.follow(asked, leader, text);
    return new TakoException(Status.NOT_LEADER, asked + " has no sessions; " + text);
  }

  /**
   * The server of {@code open} has answered a call with {@code refusal}: it does not lead any more.
   * The next {@link #get} resumes the session at the server that it names, or looks for it.
   */
  void redirect(OpenSession open, Reply refusal, long deadlineNs) {
    move(
        open,
        deadlineNs,
        () -> {
          String asked = server();
          follower = asked;
          String text = refusal.getMessage().isEmpty() ? "it does not lead" : refusal.getMessage();
          search.follow(asked, leader(open, refusal, deadlineNs), text);
        });
  }

  /** Whether a session can come to another server, as far as is known. */
  boolean mayMove() {
    return search.hasSeveralMembers();
  }

  /**
   * The server of {@code open} is silent: asks the others, and moves the session if one leads.
   *
   * @param askNs for each server that is asked
   */
  void moveIfAnotherLeads(OpenSession open, long askNs) {
    String silent = server();
    String leader = inquiry.another(open.terms().getServer(), silent, askNs);
    if (!leader.isEmpty()) {
      LOG.warn("{} does not answer, and {} leads now", silent, leader);
      long deadlineNs = clock.nanoTime() + askNs;
      move(open, deadlineNs, () -> search.follow(silent, leader, "nothing, while calls waited"));
    }
  }

  /** {@code host:port} of the server that {@code refusal} names; empty when it is not known. */
  private String leader(OpenSession open, Reply refusal, long deadlineNs) {
    int named = refusal.getLeader();
    if (named != 0 && search.address(named).isEmpty()) {
      long now = clock.nanoTime();
      learnFrom(open, now + Math.min(deadlineNs - now, SHARE_MIN_NS)); // others know it, too
    }
    return search.address(named);
  }

  /** Ends {@code open}, unless another thread has, once {@code choice} has chosen what is next. */
  private void move(OpenSession open, long deadlineNs, Runnable choice) {
    if (!Interrupts.await(
        clock, deadlineNs, left -> connecting.tryLock(left, TimeUnit.NANOSECONDS))) {
      return; // somebody connects, for longer than this call has time
    }
    try {
      if (current == open && open.connection().isOpen()) {
        choice.run();
        DataZone left = open.leave();
        if (left != null) {
          leaving.accept(open, left); // before anybody resumes the session elsewhere
        }
      }
    } finally {
      connecting.unlock();
    }
  }

  /** Answers of servers other than the one in {@code told} since {@code sinceNs}; for messages. */
  String others(long sinceNs, String told) {
    return search.others(sinceNs, told);
  }

  /** Closes {@code open}; the next {@link #get} makes another. */
  void drop(OpenSession open) {
    if (open != null) {
      open.close();
    }
  }

  /**
   * The server does not know the session of {@code open}: the next {@link #get} opens a new one.
   */
  void forget(OpenSession open) {
    // Without the lock: its holder may connect for as long as its own call has time.
    identity.compareAndSet(open.identity(), null);
    open.close();
  }

  /** Gives up the session and returns it, if its connection works. */
  OpenSession leave() {
    if (!connecting.tryLock()) {
      return null; // somebody connects: it is wanted
    }
    try {
      OpenSession open = current;
      identity.set(null);
      current = null;
      if (open != null && !open.connection().isOpen()) {
        open.close();
        open = null;
      }
      return open;
    } finally {
      connecting.unlock();
    }
  }

  /**
   * Without an open session, closes the objects that connections are made from: they have threads
   * of their own.
   */
  void rest() {
    if (connecting.tryLock()) {
      try {
        if (current == null) {
          connector.rest();
        }
      } finally {
        connecting.unlock();
      }
    }
  }

  /**
   * No more connecting; returns the open session if its connection works. Waits for an attempt to
   * connect that is under way, or for the pause after it, and for no further one.
   */
  OpenSession shut() {
    shut = true; // before the lock: its holder checks this between two attempts
    connecting.lock();
    try {
      OpenSession open = current;
      if (open != null && !open.connection().isOpen()) {
        open.close();
        open = null;
      }
      if (open == null) {
        connector.close();
      }
      return open;
    } finally {
      connecting.unlock();
    }
  }

  /** Releases what connections were made from; after {@link #shut}. */
  void close() {
    connector.close();
  }
}
