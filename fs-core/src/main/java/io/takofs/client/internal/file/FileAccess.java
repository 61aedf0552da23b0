package io.takofs.client.internal.file;

import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.HedgedReads;
import io.takofs.client.internal.session.ServerLink;
import io.takofs.client.internal.session.ServerLinks;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.session.SessionReply;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.PoolFile;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data of one open file, on all servers that have some.
 *
 * <p>Thread rule: any thread.
 */
public final class FileAccess {
  private static final Logger LOG = LoggerFactory.getLogger(FileAccess.class);

  /** Between two attempts to reach any replica. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Session session;
  private final TakoConfig config;
  private final FileLease lease; // null of a reader
  private final Set<DataZone> before;
  private final String path;

  /** Accesses to extents that are there only, by server: each waits for its server. */
  private final Map<Integer, ZoneAccess> patient = new ConcurrentHashMap<>();

  /** Accesses to extents that are or can be elsewhere, by server: each ends with its connection. */
  private final Map<Integer, ZoneAccess> brief = new ConcurrentHashMap<>();

  /** Keys of a writer for its extents, where each has its own; null of a reader. */
  private final WriteKeys keys;

  /** Whether some server gives keys for proofs only. */
  private volatile boolean wantsProofs;

  /** Extents that a writer was granted and has not finished. */
  private final Set<Grant> held = ConcurrentHashMap.newKeySet();

  /** The fields of a granted extent that stay the same as long as the grant lives. */
  private record Grant(long slab, int offset, long generation) {
    static Grant of(Extent extent) {
      return new Grant(extent.getSlab(), extent.getOffset(), extent.getGeneration());
    }
  }

  private FileAccess(
      Session session, TakoConfig config, FileLease lease, Set<DataZone> before, String path) {
    this.session = session;
    this.config = config;
    this.lease = lease;
    this.before = before;
    this.path = path;
    this.keys = lease == null ? null : new WriteKeys(session, lease.fileId());
  }

  /** Access to read files; {@code path} is for messages. */
  public static FileAccess forReader(Session session, TakoConfig config, String path) {
    return new FileAccess(session, config, null, Set.of(), path);
  }

  /**
   * Access to write one file.
   *
   * @param opened what the server said when it gave the lease
   * @param before the zones that were open before that was asked for
   * @param path for messages
   */
  public static FileAccess forWriter(
      Session session, TakoConfig config, SessionReply opened, Set<DataZone> before, String path)
      throws TakoException {
    OpenedFile file = opened.reply().getOpenedFile();
    FileAccess access = new FileAccess(session, config, FileLease.of(opened), before, path);
    access.granted(file.getGrantsList(), opened.terms());
    if (file.hasLastExtent()) {
      access.granted(List.of(file.getLastExtent()), opened.terms());
    }
    return access;
  }

  Session session() {
    return session;
  }

  TakoConfig config() {
    return config;
  }

  /** The lease of a writer; null of a reader. */
  FileLease lease() {
    return lease;
  }

  String path() {
    return path;
  }

  /** When an operation that begins now must be over. */
  long deadline() {
    return session.deadline();
  }

  /** When a transfer that begins now must be over: sooner where other servers have the bytes. */
  long deadline(FetchedGranules fetched) throws TakoException {
    return at(fetched.place(), fetched.places()).deadline();
  }

  /** Waits; false when bytes did not come, and are to be read directly. */
  boolean isHere(FetchedGranules fetched, long deadlineNs) throws TakoException {
    try {
      return fetched.await(deadlineNs);
    } catch (TakoException e) {
      if (isElsewhere(fetched, e)) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Whether bytes that did not come are to be read directly: other servers have them, and are asked
   * first from now on.
   */
  boolean isElsewhere(FetchedGranules fetched, TakoException failure) {
    boolean isElsewhere =
        fetched.places().size() > 1 && ReplicatedSource.isOfServer(failure.status());
    if (isElsewhere) {
      session.servers().at(fetched.place().server()).suspect();
    }
    return isElsewhere;
  }

  /** Whether there is no time left for another attempt. */
  boolean isOver(long deadlineNs) {
    return session.clock().nanoTime() + PAUSE_NS - deadlineNs >= 0;
  }

  /** Lets a moment pass between two attempts. */
  void pause(long deadlineNs) {
    try (Interrupts interrupts = new Interrupts()) {
      interrupts.putOff();
      long left = deadlineNs - session.clock().nanoTime();
      session.clock().parkNanos(this, Math.min(PAUSE_NS, left));
    }
  }

  /**
   * Tells the leader, which repairs it, that a replica failed; it is no failure when that cannot be
   * done now.
   *
   * @param wrongBytes whether it answered, with bytes that do not match their checksum
   */
  void report(Extent extent, ServerLink server, boolean wrongBytes, String reason) {
    Slab slab = session.slabs().find(extent.getSlab());
    ReportReplicas.Report.Builder report =
        ReportReplicas.Report.newBuilder()
            .setSlab(extent.getSlab())
            .setVersion(slab == null ? 0 : slab.getVersion())
            .setServer(server.id())
            .setWrongBytes(wrongBytes)
            .setReason(reason);
    LOG.warn("{}: server {} failed: {}", path, server.name(), reason);
    try {
      session.call(
          "report a replica of",
          path,
          Request.newBuilder().setReportReplicas(ReportReplicas.newBuilder().addReports(report)));
    } catch (TakoException e) {
      LOG.debug("{}", e.getMessage());
    }
  }

  /** The server with the only replica of an extent: it is waited for. */
  ZoneAccess only(Place place) {
    return patient.computeIfAbsent(place.server(), id -> make(id, true));
  }

  /**
   * A server with the only replica of an extent that is written. A writer need not wait for it
   * before bytes are there, unless without that one no other is granted.
   */
  ZoneAccess onlyWritten(Place place) throws TakoException {
    ServerLinks servers = session.servers();
    return servers.isNeeded(servers.at(place.server())) ? only(place) : oneOf(place);
  }

  /** A server with one of several replicas of an extent: it is left when it fails. */
  ZoneAccess oneOf(Place place) {
    return brief.compute(
        place.server(), (id, known) -> known == null || known.isOver() ? make(id, false) : known);
  }

  /** The server at {@code place} of an extent at all of {@code places}. */
  ZoneAccess at(Place place, List<Place> places) {
    return places.size() == 1 ? only(place) : oneOf(place);
  }

  private ZoneAccess make(int id, boolean patient) {
    return new ZoneAccess(this, session.servers().at(id), patient);
  }

  /** Whether {@code zone} was open before the lease was asked for. */
  boolean isBefore(DataZone zone) {
    return before.contains(zone);
  }

  /**
   * Asks the leader whether the writer still holds its lease and may write what it was granted.
   *
   * @throws TakoException LEASE_LOST when it does not; STALE_VERSION when a slab was closed, and
   *     with it some of those grants ended
   */
  void renew() throws TakoException {
    RenewLeases.Builder renewal =
        RenewLeases.newBuilder()
            .setFileId(lease.fileId())
            .setLeaseEpoch(lease.epoch())
            .setWantsProofs(wantsProofs);
    Request.Builder request = Request.newBuilder().setRenewLeases(renewal);
    SessionReply reply = session.call("write", path, request, lease.holder());
    List<Extent> writable = reply.reply().getGrants().getExtentsList();
    keys.add(writable, reply.terms());
    Set<Grant> live = writable.stream().map(Grant::of).collect(Collectors.toSet());
    for (Grant grant : held) {
      if (!live.contains(grant)) {
        throw new TakoException(
            Status.STALE_VERSION,
            "write %s on %s: slab %d was closed, and what was granted there has ended"
                .formatted(path, session.server(), grant.slab()));
      }
    }
  }

  /**
   * The leader lets the writer write {@code extents}.
   *
   * @param terms of the session at the server that said so
   */
  void granted(List<Extent> extents, SessionTerms terms) throws TakoException {
    keys.add(extents, terms);
    extents.forEach(extent -> held.add(Grant.of(extent)));
  }

  /**
   * The writer will not write {@code extent} any more.
   *
   * @param completed whether all that it sent has come to all replicas
   */
  void done(ExtentBuilder extent, boolean completed) {
    keys.remove(extent.places(), completed);
    held.remove(Grant.of(extent.grant()));
  }

  /** The writer will not write what it was granted, and has not begun, any more. */
  void givesUp(Extent grant) {
    Slab slab = session.slabs().find(grant.getSlab());
    if (slab != null) {
      keys.remove(Place.in(slab, grant), true);
    }
    held.remove(Grant.of(grant));
  }

  /** The writer has closed its file; all that it sent has come to all replicas. */
  void closed() {
    keys.removeAll();
  }

  /** The keys by which the writer reaches its extents. */
  WriteKeys keys() {
    return keys;
  }

  /** Has the leader prove grants from the next {@link #renew} on: a server asks for that. */
  void wantProofs() {
    wantsProofs = true;
  }

  /** A way to write extents, on all servers that have them. */
  ReplicatedSink sink() {
    return new ReplicatedSink(this);
  }

  /**
   * A way to read extents, from any server that has them. A writer reads as readers do, whatever
   * becomes of its grants.
   */
  ReplicatedSource source() {
    return new ReplicatedSource(lease == null ? this : forReader(session, config, path));
  }

  /**
   * Whether the data of {@code extent} is transferred, and not mapped. True when its first replica
   * cannot be reached and there are others, because a read takes another one.
   */
  boolean transfers(ExtentView extent) throws TakoException {
    DataZone first = reached(extent, ReplicaOrder.first(this, extent));
    return first == null || first instanceof RemoteZone;
  }

  /**
   * Waits as long as reads usually take for bytes that other servers have, too. Whether they take
   * much longer, and the server that is read from next is there: they are to be read directly then,
   * from that one first.
   *
   * @param deadlineNs until when another server is waited for while the bytes do not come
   */
  boolean isLate(FetchedGranules fetched, long deadlineNs) throws TakoException {
    HedgedReads hedging = session.hedgedReads();
    if (fetched.places().size() == 1 || !hedging.begin() || !fetched.isLate(hedging.leastNs())) {
      return false;
    }
    List<Place> others = new ArrayList<>(ReplicaOrder.of(this, fetched.extent()));
    others.remove(fetched.place());
    if (awaitOther(fetched, others, deadlineNs) == null) {
      return false;
    }
    hedging.hedge();
    session.servers().at(fetched.place().server()).suspect();
    return true;
  }

  /**
   * The one of {@code others}, in the order of reads, to read from instead of the server of {@code
   * late}, once it is there; null when {@code late} is over before, or its time. Others may have
   * failed, too: none of them is connected to on this thread.
   */
  Place awaitOther(FetchedGranules late, List<Place> others, long deadlineNs) {
    Place other = ready(others);
    while (other == null && !late.endsSoon() && !isOver(deadlineNs)) {
      other = ready(others);
    }
    return other;
  }

  /**
   * The first of {@code places} that did not fail lately; null, and connected to soon, while it is
   * not connected to.
   */
  private Place ready(List<Place> places) {
    for (Place place : places) {
      ServerLink server = session.servers().at(place.server());
      if (!server.isSuspect()) {
        if (oneOf(place).openZone() != null) {
          return place;
        }
        server.connectAside(path);
        return null;
      }
    }
    return null;
  }

  /**
   * The data zone of {@code place}; null when its server cannot be reached and the extent has other
   * replicas: those are read first from now on.
   */
  DataZone reached(ExtentView extent, Place place) throws TakoException {
    ZoneAccess server = at(place, extent.places());
    try {
      return server.zone();
    } catch (TakoException e) {
      if (extent.places().size() == 1 || !ReplicatedSource.isOfServer(e.status())) {
        throw e;
      }
      if (!server.isOver() && ReplicatedSource.isItsFault(e)) {
        server.server().suspect();
      }
      return null;
    }
  }

  /**
   * The read-ahead of one sequential reader.
   *
   * @param bytes to fetch ahead at most; negative for what is configured
   */
  ReadAhead readAhead(ReadAhead.Finder finder, boolean eager, long bytes) {
    long limit = config.get(ConfigKeys.READ_AHEAD_SIZE);
    long wanted = bytes < 0 ? limit : Math.min(bytes, ReadAhead.LIMIT_MAX);
    return new ReadAhead(this, finder, wanted, eager);
  }

  /** The file in which the bytes at {@code place} can be looked at; null when they cannot. */
  PoolFile poolFile(ExtentView extent, Place place) throws TakoException {
    return reached(extent, place) instanceof MappedZone mapped ? mapped.file() : null;
  }
}
