package io.takofs.client.internal.session;

import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.layout.Layout;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server that holds file data, and this client's connections to it: those of the session when it
 * is the session's server, else a small connection for calls and one for data, both made when the
 * data is first wanted and made again when they broke, or when the client has another session. A
 * server takes one connection for data of a client, so the one there is stays when the session
 * comes to the server or leaves it.
 *
 * <p>Thread rule: any thread; one of them connects while the others wait, and all of them have its
 * outcome. So many threads wait no longer for a server that is silent than one.
 */
public final class ServerLink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);

  /** A server that failed is taken last for so long. */
  private static final long SUSPECT_NS = TimeUnit.SECONDS.toNanos(10);

  /**
   * For a connection that nobody waits for. A server that takes longer is no help to a read that is
   * late, and who closes the client has to wait for the attempt.
   */
  private static final long ASIDE_NS = TimeUnit.SECONDS.toNanos(1);

  private final int id;
  private final Session session;
  private final Connector connector;
  private final ClusterView cluster;
  private final ThreadFactory threads;
  private final AtomicBoolean connectsAside = new AtomicBoolean();
  private final ReentrantLock opening = new ReentrantLock();
  private volatile Opened opened;
  private volatile long suspectUntilNs;
  private volatile boolean suspect;
  private volatile TakoException failed; // the last attempt to connect
  private volatile Control control; // changed with the lock "opening"
  private volatile long introduceAtNs; // not sooner, where the server has only a data zone

  /** A connection for calls, and the session that it was opened for. */
  private record Control(ServerConnection connection, SessionIdentity caller) {}

  /** A data zone, and the session that its connection was made for. */
  private record Opened(DataZone zone, SessionIdentity caller) {}

  ServerLink(
      int id, Session session, Connector connector, ClusterView cluster, ThreadFactory threads) {
    this.id = id;
    this.session = session;
    this.connector = connector;
    this.cluster = cluster;
    this.threads = threads;
  }

  public int id() {
    return id;
  }

  /** {@code host:port}, for messages. */
  public String name() {
    try {
      if (isSessions()) {
        return session.server();
      }
      ServerEntry entry = cluster.known(id);
      return entry == null ? "server " + id : ClusterView.address(entry);
    } catch (TakoException e) {
      return "server " + id;
    }
  }

  /** Its entry in the cluster's map; null when that does not have it, as after its removal. */
  public ServerEntry entry() throws TakoException {
    return cluster.known(id);
  }

  /** Whether it is the server that the session is at. */
  public boolean isSessions() throws TakoException {
    return cluster.isSessions(id);
  }

  /** Whether it is the server where the session of these terms is, or was. */
  public boolean isSessions(SessionTerms terms) throws TakoException {
    return cluster.isSessions(id, terms);
  }

  /** It failed a reader or a writer: others are asked first for a while. */
  public void suspect() {
    suspectUntilNs = session.clock().nanoTime() + SUSPECT_NS;
    suspect = true;
  }

  /** Whether it failed a short while ago. */
  public boolean isSuspect() {
    return suspect && session.clock().nanoTime() - suspectUntilNs < 0;
  }

  /** Its data zone if that is open, else null. */
  public DataZone openZone() {
    Opened last = opened;
    if (last != null && last.zone.isOpen()) {
      return last.zone;
    }
    return cluster.isKnownAsSessions(id) ? session.openZone() : null;
  }

  /** The session {@code open} leaves this server, and its data zone stays. */
  void keepZone(OpenSession open, DataZone left) {
    opened = new Opened(left, open.identity());
    introduceAtNs = session.clock().nanoTime();
  }

  /**
   * Whether the session left its data zone here, and the server has to be told soon who uses it: it
   * knows no session any more.
   */
  boolean isToBeIntroduced(SessionIdentity caller) {
    Control known = control;
    return openZone(caller) != null
        && (known == null || known.caller != caller)
        && !cluster.isKnownAsSessions(id)
        && session.clock().nanoTime() - introduceAtNs >= 0;
  }

  /**
   * Its data zone, connecting once when there is none of this session. A server fences a session by
   * ending the connections that were made for it, so nobody may store over those of another one.
   *
   * @param open the session
   */
  public DataZone zone(OpenSession open, long deadlineNs) throws TakoException {
    DataZone usable = openZone(open.identity());
    if (usable != null) {
      if (isToBeIntroduced(open.identity())) {
        connectAside("");
      }
      return usable;
    }
    if (cluster.isSessions(id, open.terms())) {
      closeZoneOfOther(open.identity());
      return open.zone(deadlineNs);
    }
    TakoException failedBefore = failed;
    if (!Interrupts.await(
        session.clock(), deadlineNs, left -> opening.tryLock(left, TimeUnit.NANOSECONDS))) {
      throw new TakoException(Status.DISCONNECTED, name() + " was not connected to in time");
    }
    try {
      usable = openZone(open.identity());
      if (usable != null) {
        return usable;
      }
      TakoException meanwhile = failed;
      if (meanwhile != failedBefore) {
        throw new TakoException(meanwhile.status(), meanwhile.getMessage(), meanwhile);
      }
      DataZone made = attempt(open, deadlineNs);
      opened = new Opened(made, open.identity());
      suspect = false;
      return made;
    } finally {
      opening.unlock();
    }
  }

  /**
   * Has a thread of its own connect, unless one does already. The server is suspect when that
   * fails.
   *
   * @param path of the file that is read, for messages; empty for none
   */
  public void connectAside(String path) {
    if (connectsAside.compareAndSet(false, true)) {
      try {
        Thread made = threads.newThread(() -> connectOnce(path));
        made.setName("tako-connect-aside");
        made.start();
      } catch (OutOfMemoryError e) { // too many threads: a read can do without this one
        connectsAside.set(false);
      }
    }
  }

  private void connectOnce(String path) {
    try {
      OpenSession open = session.open("read", path);
      connectOrSuspect(open);
    } catch (TakoException e) {
      LOG.debug("{}", e.getMessage()); // the leader is away, which says nothing of this server
    } finally {
      connectsAside.set(false);
    }
  }

  private void connectOrSuspect(OpenSession open) {
    long deadlineNs = session.clock().nanoTime() + ASIDE_NS;
    try {
      if (isToBeIntroduced(open.identity())) {
        introduceAtNs = deadlineNs; // and again then, if it fails
        introduce(open, deadlineNs);
      } else {
        zone(open, deadlineNs);
      }
    } catch (TakoException e) {
      LOG.debug("{}", e.getMessage());
      suspect();
    }
  }

  private void closeZoneOfOther(SessionIdentity caller) {
    Opened last = opened;
    if (last != null && last.caller != caller) {
      last.zone.close();
    }
  }

  private DataZone openZone(SessionIdentity caller) {
    Opened last = opened;
    return last != null && last.caller == caller && last.zone.isOpen() ? last.zone : null;
  }

  private DataZone attempt(OpenSession open, long deadlineNs) throws TakoException {
    try {
      return connect(open, deadlineNs);
    } catch (TakoException e) {
      failed = e;
      throw e;
    }
  }

  private DataZone connect(OpenSession open, long deadlineNs) throws TakoException {
    Opened last = opened;
    if (last != null) {
      last.zone.close(); // the server takes no other one before
    }
    try (Interrupts interrupts = new Interrupts()) {
      interrupts.putOff(); // it would end the attempt, and each further one
      return control(open, deadlineNs).connection.openZone(open.terms(), deadlineNs);
    } catch (UncheckedIOException e) {
      // Memory or another resource of the machine is short, which may end.
      throw new TakoException(Status.UNAVAILABLE, e.getMessage(), e);
    }
  }

  /** The connection for calls, made when there is none of this session; with the lock "opening". */
  private Control control(OpenSession open, long deadlineNs) throws TakoException {
    Control known = control;
    if (known != null && (!known.connection.isOpen() || known.caller != open.identity())) {
      known.connection.close();
      control = null;
    }
    if (control == null) {
      control = new Control(openControl(open, deadlineNs), open.identity());
    }
    return control;
  }

  /** Makes the connection for calls beside a data zone that is there. */
  private void introduce(OpenSession open, long deadlineNs) throws TakoException {
    if (!Interrupts.await(
        session.clock(), deadlineNs, left -> opening.tryLock(left, TimeUnit.NANOSECONDS))) {
      throw new TakoException(Status.DISCONNECTED, name() + " was not connected to in time");
    }
    try (Interrupts interrupts = new Interrupts()) {
      interrupts.putOff();
      control(open, deadlineNs);
    } catch (UncheckedIOException e) {
      throw new TakoException(Status.UNAVAILABLE, e.getMessage(), e);
    } finally {
      opening.unlock();
    }
  }

  /**
   * Asks a server that is not the session's about the data that it has.
   *
   * @throws TakoException DISCONNECTED or DEADLINE_EXCEEDED
   */
  public Reply call(Request request, long deadlineNs) throws TakoException {
    if (control == null) {
      introduce(session.open("write", ""), deadlineNs); // the session has left its data zone here
    }
    Control known = control;
    if (known == null) {
      throw new TakoException(Status.DISCONNECTED, "no connection to " + name());
    }
    long clientId = known.caller.clientId();
    return known.connection.call(clientId, CallNumbers.UNRECORDED, request, deadlineNs);
  }

  private ServerConnection openControl(OpenSession open, long deadlineNs) throws TakoException {
    String address = ClusterView.address(cluster.find(id));
    try {
      return openControl(address, open, deadlineNs);
    } catch (TakoException e) {
      if (e.status() != Status.PERMISSION_DENIED) {
        throw e;
      }
      // The cluster has other keys since the ticket was made, or its maker had none yet.
      session.renewTerms(open, deadlineNs);
      return openControl(address, open, deadlineNs);
    }
  }

  private ServerConnection openControl(String address, OpenSession open, long deadlineNs)
      throws TakoException {
    ServerConnection made;
    try {
      made = connector.connectData(address, open.identity().clientId(), deadlineNs);
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(Status.DISCONNECTED, e.getMessage(), e);
    }
    boolean opened = false;
    try {
      SessionTerms terms = open.terms();
      Request request =
          Request.newBuilder()
              .setOpenDataSession(
                  OpenDataSession.newBuilder()
                      .setProtocolVersion(Layout.PROTOCOL_VERSION)
                      .setLayoutHash(Layout.LAYOUT_HASH)
                      .setClientId(terms.getClientId())
                      .setTicket(terms.getTicket())
                      .setClientName(connector.clientName())
                      .setServer(id))
              .build();
      Reply reply =
          made.call(open.identity().clientId(), CallNumbers.UNRECORDED, request, deadlineNs);
      if (reply.getStatus() != Status.OK) {
        throw new TakoException(reply.getStatus(), address + ": " + reply.getMessage());
      }
      opened = true;
      return made;
    } finally {
      if (!opened) {
        made.close();
      }
    }
  }

  /** Ends the connections that are this server's own; the next use makes them anew. */
  @Override
  public void close() {
    opening.lock();
    try {
      Control known = control;
      if (known != null) {
        known.connection.close();
        control = null;
      }
      Opened last = opened;
      if (last != null) {
        last.zone.close();
        opened = null;
      }
    } finally {
      opening.unlock();
    }
  }
}
