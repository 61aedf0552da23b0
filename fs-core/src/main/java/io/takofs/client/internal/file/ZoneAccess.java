package io.takofs.client.internal.file;

import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.OpenSession;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.session.SessionReply;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.PoolFile;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The data zone for one open file, over whatever connection there is.
 *
 * <p>Thread rule: any thread.
 */
public final class ZoneAccess {
  /** Before a broken transfer is tried again. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Read-ahead limit of one stream, bytes. */
  private static final long READ_AHEAD_MAX = 64L << 20;

  private final Session session;
  private final TakoConfig config;
  private final FileLease lease; // null of a reader
  private final String operation;
  private final String path;

  /** Of a writer: the last zone that was there while it was known to hold its lease. */
  private volatile DataZone leased;

  /** Of a writer: the extents that it may write through that zone, with their keys. */
  private final Map<Location, Extent> writable = new ConcurrentHashMap<>();

  /** Arena and offset of an extent's first byte. */
  private record Location(int arena, int offset) {
    static Location of(Extent extent) {
      return new Location(extent.getArena(), extent.getOffset());
    }
  }

  private ZoneAccess(
      Session session, TakoConfig config, FileLease lease, DataZone leased, String path) {
    this.session = session;
    this.config = config;
    this.lease = lease;
    this.leased = leased;
    this.operation = lease == null ? "read" : "write";
    this.path = path;
  }

  /** Access to read files; {@code path} is for messages. */
  public static ZoneAccess forReader(Session session, TakoConfig config, String path) {
    return new ZoneAccess(session, config, null, null, path);
  }

  /**
   * Access to write one file.
   *
   * @param opened what the server said when it gave the lease
   * @param before the zone that was open before that was asked for, null for none
   * @param path for messages
   */
  public static ZoneAccess forWriter(
      Session session, TakoConfig config, SessionReply opened, DataZone before, String path) {
    OpenedFile file = opened.reply().getOpenedFile();
    FileLease lease = FileLease.of(opened);
    ZoneAccess access = new ZoneAccess(session, config, lease, before, path);
    access.granted(file.getGrantsList());
    if (file.hasLastExtent()) {
      access.granted(List.of(file.getLastExtent()));
    }
    return access;
  }

  /** The lease of a writer; null of a reader. */
  FileLease lease() {
    return lease;
  }

  /** When an operation that begins now must be over. */
  long deadline() {
    return session.deadline();
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
    DataZone zone = connected();
    if (lease != null && zone != leased) {
      writable.clear();
      renew();
      leased = zone;
    }
    return zone;
  }

  private void renew() throws TakoException {
    RenewLeases.Builder renewal =
        RenewLeases.newBuilder().setFileId(lease.fileId()).setLeaseEpoch(lease.epoch());
    Request.Builder request = Request.newBuilder().setRenewLeases(renewal);
    SessionReply reply = session.call(operation, path, request, lease.holder());
    granted(reply.reply().getGrants().getExtentsList());
  }

  /** The server lets the writer write {@code extents}. */
  void granted(List<Extent> extents) {
    for (Extent extent : extents) {
      if (extent.getRkey() != 0) {
        writable.put(Location.of(extent), extent);
      }
    }
  }

  /** The writer will not write {@code extent} any more. */
  void done(Extent extent) {
    writable.remove(Location.of(extent));
  }

  /**
   * {@code extent} with the keys to write it through {@code zone}.
   *
   * @return null when the server shows none because it takes the connection for ended
   * @throws TakoException LEASE_LOST
   */
  Extent writable(RemoteZone zone, Extent extent) throws TakoException {
    if (!zone.keysOfExtents()) {
      return extent;
    }
    Location location = Location.of(extent);
    Extent keys = writable.get(location);
    if (keys == null) {
      renew();
      keys = writable.get(location);
    }
    if (keys == null) {
      zone.close();
    }
    return keys;
  }

  private DataZone connected() throws TakoException {
    long deadlineNs = deadline();
    while (true) {
      OpenSession open = sessionOfOwner();
      try {
        return open.zone(deadlineNs);
      } catch (TakoException e) {
        // The server may be on its way down or up, and the connection not know yet.
        if (e.status() != Status.DISCONNECTED && e.status() != Status.UNAVAILABLE) {
          throw failure(e.status(), e.getMessage(), e);
        }
        pause(deadlineNs, e.getMessage());
      }
    }
  }

  private OpenSession sessionOfOwner() throws TakoException {
    OpenSession open = session.open(operation, path);
    if (lease != null && lease.holder() != open.identity()) {
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
      int bufferSize = Math.toIntExact(config.get(ConfigKeys.WRITE_BUFFER_SIZE));
      return new RemoteSink(this, bufferSize, config.get(ConfigKeys.WRITE_BUFFERS));
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

  /** Returns the read-ahead of one sequential reader; null where reading ahead gains nothing. */
  ReadAhead readAhead(ReadAhead.Finder finder, boolean eager, long bytes) throws TakoException {
    if (!transfers()) {
      return null;
    }
    long limit = config.get(ConfigKeys.READ_AHEAD_SIZE);
    long wanted = bytes < 0 ? limit : Math.min(bytes, READ_AHEAD_MAX);
    return new ReadAhead(this, finder, wanted, eager);
  }

  /** The present zone; only where it is mapped. */
  MappedZone mapped() throws TakoException {
    if (zone() instanceof MappedZone mapped) {
      return mapped;
    }
    throw changed();
  }

  /** The file whose bytes can be looked at in place; null when they cannot. */
  PoolFile poolFile() throws TakoException {
    return zone() instanceof MappedZone mapped ? mapped.file() : null;
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
            + path
            + " on "
            + session.server()
            + ": the server is reached by another transport now");
  }

  /** Lets a moment pass before the data is tried again, or gives up. */
  void pause(long deadlineNs, String lastFailure) throws TakoException {
    if (session.clock().nanoTime() + PAUSE_NS - deadlineNs >= 0) {
      throw failure(
          Status.DEADLINE_EXCEEDED,
          "no connection to the data in time"
              + (lastFailure.isEmpty() ? "" : "; the last one failed: " + lastFailure),
          null);
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
        status, operation + " " + path + " on " + session.server() + ": " + what, cause);
  }
}
