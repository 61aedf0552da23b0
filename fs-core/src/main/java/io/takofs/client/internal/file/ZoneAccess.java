package io.takofs.client.internal.file;

import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.OpenSession;
import io.takofs.client.internal.session.ServerLink;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.config.ConfigKeys;
import io.takofs.proto.Status;
import java.util.concurrent.TimeUnit;

/**
 * The data zone of one server for one open file. A patient access, of extents that are there only,
 * goes over whatever connection there is, and waits for one. One of extents that are elsewhere,
 * too, or can be, does not wait: a reader's ends with its first connection, and a writer's when it
 * gets no other at once.
 *
 * <p>Thread rule: any thread.
 */
final class ZoneAccess {
  /** Before a broken transfer is tried again. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final FileAccess file;
  private final Session session;
  private final ServerLink server;
  private final String operation;
  private volatile boolean patient;

  /** The zone that was used last; of a writer, one that was there while it held its lease. */
  private volatile DataZone present;

  ZoneAccess(FileAccess file, ServerLink server, boolean patient) {
    this.file = file;
    this.session = file.session();
    this.server = server;
    this.patient = patient;
    this.operation = file.lease() == null ? "read" : "write";
  }

  ServerLink server() {
    return server;
  }

  /** Waits for the server from now on: no other replica is left. False if it does already. */
  boolean bePatient() {
    boolean was = patient;
    patient = true;
    return !was;
  }

  /** Waits no longer for the server than for one of several, from now on. */
  void beBrief() {
    patient = false;
  }

  /** Whether it waits for the server, because no other one has the data. */
  boolean isPatient() {
    return patient;
  }

  /** Whether it ended, with its connection. */
  boolean isOver() {
    DataZone used = present;
    return !patient && used != null && !used.isOpen();
  }

  /** When an operation that begins now must be over. */
  long deadline() {
    if (patient) {
      return session.deadline();
    }
    long limitNs = file.config().get(ConfigKeys.REPLICA_TIMEOUT).toNanos();
    long now = session.clock().nanoTime();
    return now + Math.min(limitNs, session.deadline() - now);
  }

  /**
   * The present zone, connecting when there is none, again and again until the deadline.
   *
   * <p>A server that took a writer's lease away fences the connections that there were at that
   * time, and then gives the writer's extents to others. So a writer may store through a connection
   * only if it held its lease at some time after that was made.
   *
   * @throws TakoException LEASE_LOST when it does not
   */
  DataZone zone() throws TakoException {
    DataZone used = present;
    if (file.lease() == null && used != null && used.isOpen()) {
      return used; // a reader needs the leader for a new connection only
    }
    if (isOver() && !mayConnectAnew()) {
      throw failure(Status.DISCONNECTED, "the connection to its data has ended", null);
    }
    DataZone zone = connected();
    if (zone != used) {
      if (file.lease() != null && !isOfLease(used, zone)) {
        file.keys().forgetSessions(); // those that are still good come with the renewal
        if (!server.isSessions() && takesWindows(zone)) {
          file.wantProofs();
        }
        file.renew();
      }
      present = zone;
    }
    return zone;
  }

  /** A reader's zone as far as that takes no connecting; else null. */
  DataZone openZone() {
    DataZone used = present;
    if (used != null) {
      return used.isOpen() ? used : null;
    }
    DataZone shared = server.openZone();
    if (shared != null) {
      present = shared;
    }
    return shared;
  }

  private boolean isOfLease(DataZone used, DataZone zone) {
    return used == null && file.isBefore(zone);
  }

  private static boolean takesWindows(DataZone zone) {
    return zone instanceof RemoteZone remote && remote.keysOfExtents();
  }

  /**
   * The keys to write the extent at {@code place} through {@code zone}.
   *
   * @return null when the server shows none because it takes the connection for ended
   * @throws TakoException LEASE_LOST, STALE_VERSION; others when the server refuses though the
   *     leader does not
   */
  WriteKeys.Keys writable(RemoteZone zone, Place place) throws TakoException {
    if (!zone.keysOfExtents()) {
      return WriteKeys.Keys.OF_ARENA;
    }
    return server.isSessions() ? keysOfSessions(zone, place) : keysForProofs(zone, place);
  }

  /** Of a server to which the session has come, it may have keys from the time before. */
  private WriteKeys.Keys keysOfSessions(RemoteZone zone, Place place) throws TakoException {
    WriteKeys.Keys keys = file.keys().at(zone, place);
    if (keys == null) {
      keys = file.keys().atSessions(place);
    }
    if (keys == null) {
      file.renew();
      keys = file.keys().atSessions(place);
    }
    if (keys == null && !server.isSessions()) {
      return keysForProofs(zone, place); // the session has left meanwhile
    }
    if (keys == null) {
      zone.close();
    }
    return keys;
  }

  /**
   * A refusal may mean that the grant has ended, of which the leader alone decides. So it is asked
   * before the server counts as failed.
   */
  private WriteKeys.Keys keysForProofs(RemoteZone zone, Place place) throws TakoException {
    WriteKeys.Keys keys = file.keys().at(zone, place);
    if (keys != null) {
      return keys;
    }
    if (!file.keys().isProved(place)) {
      renewProofs();
    }
    long deadlineNs = deadline();
    String refusal = "";
    while (keys == null && zone.isOpen()) {
      if (server.isSessions()) {
        return keysOfSessions(zone, place); // the session has come meanwhile: no proof is needed
      }
      if (!refusal.isEmpty()) {
        renewProofs();
      }
      try {
        keys = file.keys().open(server, zone, place, deadlineNs);
      } catch (TakoException e) {
        if (e.status() == Status.DEADLINE_EXCEEDED) {
          throw failure(e.status(), e.getMessage(), e);
        }
        if (!refusal.isEmpty()) {
          pause(deadlineNs, e.getMessage());
        }
        refusal = e.getMessage();
      }
    }
    return keys;
  }

  private void renewProofs() throws TakoException {
    file.wantProofs();
    file.renew();
  }

  private DataZone connected() throws TakoException {
    long deadlineNs = deadline();
    while (true) {
      OpenSession open = sessionOfOwner();
      try {
        return server.zone(open, deadlineNs);
      } catch (TakoException e) {
        // The server may be on its way down or up, and the connection not know yet. One that is
        // busy is well: it fenced a writer's connections for what the writer was granted once, say,
        // and this process takes a while to unmap what it had over them. A writer waits for it, a
        // reader need not.
        boolean busy = e.status() == Status.BUSY && (patient || mayConnectAnew());
        if (!busy && e.status() != Status.DISCONNECTED && e.status() != Status.UNAVAILABLE) {
          throw failure(e.status(), e.getMessage(), e);
        }
        pause(deadlineNs, e.getMessage(), patient || busy);
      }
    }
  }

  /**
   * A server that fences a writer's connections for what the writer was granted once takes new ones
   * soon, and nothing is lost of what came over the former one. So that is tried before the server
   * counts as failed.
   */
  private boolean mayConnectAnew() {
    return file.lease() != null;
  }

  private OpenSession sessionOfOwner() throws TakoException {
    OpenSession open;
    try {
      open = session.open(operation, file.path());
    } catch (TakoException e) {
      throw new NoSessionException(e);
    }
    if (file.lease() != null && file.lease().holder() != open.identity()) {
      throw failure(
          Status.SESSION_EXPIRED,
          "the server ended the session that opened this file, and with it its lease; what was"
              + " flushed before is kept",
          null);
    }
    return open;
  }

  /** A way to write extents that suits the transport. */
  ExtentSink sink() throws TakoException {
    if (zone() instanceof RemoteZone) {
      int bufferSize = Math.toIntExact(file.config().get(ConfigKeys.WRITE_BUFFER_SIZE));
      int buffers = file.config().get(ConfigKeys.WRITE_BUFFERS);
      return new RemoteSink(this, bufferSize, buffers);
    }
    return new MappedSink(this);
  }

  /** Whether data is transferred, and not mapped. */
  boolean transfers() throws TakoException {
    return zone() instanceof RemoteZone;
  }

  /** A way to read extents that suits the transport. */
  ExtentSource source() throws TakoException {
    return zone() instanceof RemoteZone ? new RemoteSource(this) : new MappedSource(this);
  }

  /** The present zone; only where it is mapped. */
  MappedZone mapped() throws TakoException {
    if (zone() instanceof MappedZone mapped) {
      return mapped;
    }
    throw changed();
  }

  /** The present zone; only where it transfers. */
  RemoteZone remote() throws TakoException {
    if (zone() instanceof RemoteZone remote) {
      return remote;
    }
    throw changed();
  }

  private TakoException changed() {
    return new TransportChangedException(
        operation
            + " "
            + file.path()
            + " on "
            + server.name()
            + ": the server is reached by another transport now");
  }

  /** Lets a moment pass before the data is tried again, or gives up. */
  void pause(long deadlineNs, String lastFailure) throws TakoException {
    pause(deadlineNs, lastFailure, patient || (isOver() && mayConnectAnew()));
  }

  private void pause(long deadlineNs, String lastFailure, boolean mayGoOn) throws TakoException {
    String last = lastFailure.isEmpty() ? "" : "; the last one failed: " + lastFailure;
    if (!mayGoOn) {
      throw failure(Status.DISCONNECTED, "no connection to the data" + last, null);
    }
    if (session.clock().nanoTime() + PAUSE_NS - deadlineNs >= 0) {
      throw failure(Status.DEADLINE_EXCEEDED, "no connection to the data in time" + last, null);
    }
    try (Interrupts interrupts = new Interrupts()) {
      interrupts.putOff();
      session.clock().parkNanos(this, PAUSE_NS);
    }
  }

  /**
   * Lets a moment pass before an arena that could not be mapped is tried again, or gives up.
   *
   * @param deadlineNs what the last call for the same transfer returned, 0 at first
   */
  long awaitArena(int index, long deadlineNs) throws TakoException {
    long until = deadlineNs == 0 ? deadline() : deadlineNs;
    pause(until, "arena " + index + " of the pool cannot be mapped; is this process allowed to?");
    return until;
  }

  private TakoException failure(Status status, String what, TakoException cause) {
    return new TakoException(
        status, operation + " " + file.path() + " on " + server.name() + ": " + what, cause);
  }
}
