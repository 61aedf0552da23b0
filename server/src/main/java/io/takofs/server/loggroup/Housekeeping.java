package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Caller;
import io.takofs.proto.CountQuotas;
import io.takofs.proto.ExpireLeases;
import io.takofs.proto.ExpireSession;
import io.takofs.proto.FreeExtents;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reclaim;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.extent.Location;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.QuarantinedExtent;
import io.takofs.server.namespace.state.SessionInfo;
import io.takofs.server.zone.DataConnections;
import io.takofs.server.zone.ReaderHolds;
import io.takofs.server.zone.ServerDataZone;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Background work of the server: ends sessions and leases, frees extents, empties what was deleted,
 * makes checkpoints. All of it goes through the log like everything else.
 *
 * <p>Each tick does a bounded amount of work, so that calls are never kept waiting for long.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class Housekeeping {
  private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

  /** Pause when there is nothing to do. */
  private static final long IDLE_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Pause between two pieces of work that is waiting; calls get the lock meanwhile. */
  private static final long BUSY_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Time one tick may take, checked between entries. */
  private static final long BUDGET_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private static final int CHECKPOINT_PAGES = 256;
  private static final int RECLAIM_ENTRIES = 64;
  private static final int FREE_EXTENTS = 128;

  private final Clock clock;
  private final ServerSettings settings;
  private final Journal journal;
  private final StateMachine machine;
  private final ClientTable sessions;
  private final SafeMode safeMode;
  private final DataConnections dataConnections;
  private final ReaderHolds holds;
  private final Counters counters;
  private final Set<Long> lapsed = new TreeSet<>();
  private final Set<Long> toFence = new LinkedHashSet<>();
  private long lastScanNs;
  private boolean pressed;

  /** There may be more extents whose rest is over. */
  private boolean freeing;

  /** There is no room for it until something else has changed. */
  private boolean reclaimRefused;

  private boolean countRefused; // as reclaimRefused

  public Housekeeping(LogGroup group, ServerDataZone zone) {
    this.clock = group.clock;
    this.settings = group.settings;
    this.journal = group.journal();
    this.machine = group.machine();
    this.sessions = group.sessions();
    this.safeMode = group.safeMode();
    this.counters = group.counters;
    this.dataConnections = zone.connections();
    this.holds = zone.holds();
    this.lastScanNs = clock.nanoTime() - IDLE_NS;
  }

  /** Does what is due; returns nanoseconds until the next tick is wanted. */
  public long tick() {
    try {
      journal.checkUsable();
      long begin = clock.nanoTime();
      if (begin - lastScanNs >= IDLE_NS) {
        lastScanNs = begin;
        if (!safeMode.isOn()) {
          expireSessions();
          expireLeases();
        }
        freeing = true;
        reclaimRefused = false;
        countRefused = false;
      }
      do {
        workOff();
      } while (hasBacklog() && clock.nanoTime() - begin < BUDGET_NS);
      journal.advanceCheckpoint(CHECKPOINT_PAGES);
    } catch (TakoException e) {
      LOG.warn("housekeeping has to wait: {}", e.getMessage());
      return IDLE_NS;
    }
    return isBusy() ? BUSY_NS : IDLE_NS;
  }

  /** Whether there is work that a next tick should go on with soon. */
  public boolean isBusy() {
    return hasBacklog() || !toFence.isEmpty() || journal.checkpointing();
  }

  private boolean hasBacklog() {
    return freeing
        || (machine.countPending() && !countRefused)
        || (machine.reclaimPending() && !reclaimRefused);
  }

  /** One piece of each kind of work that waits. */
  private void workOff() throws TakoException {
    if (machine.countPending() && !countRefused) {
      count();
    }
    if (machine.reclaimPending() && !reclaimRefused) {
      reclaim();
    }
    if (freeing) {
      freeQuarantined();
    }
  }

  /** A count that finds no room goes on with the next look, when something may have been freed. */
  private void count() throws TakoException {
    Reply reply = journal.execute(entry().setCountQuotas(CountQuotas.getDefaultInstance()).build());
    countRefused = reply.getStatus() != Status.OK;
    if (countRefused) {
      LOG.warn("a count for a quota has to wait: {}", reply.getMessage());
    }
  }

  // ---- sessions and leases ----------------------------------------------------------------------

  private void expireSessions() throws TakoException {
    for (long clientId : sessions.expired(settings.sessionTtl().toNanos())) {
      session(clientId)
          .and("limit", settings.sessionTtl())
          .info(LOG, "a session ends: its connection was gone for too long");
      endSession(clientId);
    }
  }

  private Facts session(long clientId) {
    SessionInfo session = machine.session(clientId);
    return Facts.of("session", Long.toHexString(clientId))
        .and("user", session == null ? "" : session.user());
  }

  /** Ends what is left of a session, which may take several entries, and fences its client. */
  public void endSession(long clientId) throws TakoException {
    counters.add("sessions.ended", 1);
    while (machine.session(clientId) != null) {
      Reply reply =
          journal.execute(
              entry().setExpireSession(ExpireSession.newBuilder().setClientId(clientId)).build());
      if (reply.getStatus() != Status.OK) {
        session(clientId)
            .and("status", reply.getStatus())
            .warn(LOG, "the end of a session has to wait: " + reply.getMessage());
        return;
      }
    }
    sessions.forget(clientId);
    fence(clientId);
  }

  /** The client must not reach the data zone any more. */
  void fence(long clientId) {
    toFence.add(clientId);
  }

  /** Leases of clients silent for the hard limit end; for the soft limit, others may take them. */
  private void expireLeases() throws TakoException {
    lapsed.clear();
    List<Long> gone = new ArrayList<>();
    for (long clientId : sessions.silent(settings.leaseSoftLimit().toNanos())) {
      if (!machine.hasLeases(clientId)) {
        continue;
      }
      if (sessions.silent(clientId, settings.leaseHardLimit().toNanos())) {
        gone.add(clientId);
      } else {
        lapsed.add(clientId);
      }
    }
    for (long clientId : gone) {
      session(clientId)
          .and("limit", settings.leaseHardLimit())
          .info(LOG, "a session was silent for too long: its files are closed");
      journal.execute(
          entry().setExpireLeases(ExpireLeases.newBuilder().setClientId(clientId)).build());
      counters.add("leases.expired", 1);
    }
  }

  /** The client whose file {@code request} of {@code caller} may take over; it alone is logged. */
  public List<Long> lapsedClients(Request request, Caller caller) {
    if (lapsed.isEmpty()) {
      return List.of();
    }
    long writer = machine.writerInTheWay(caller, request);
    boolean hasLapsed =
        lapsed.contains(writer) && sessions.silent(writer, settings.leaseSoftLimit().toNanos());
    return hasLapsed ? List.of(writer) : List.of();
  }

  // ---- space ------------------------------------------------------------------------------------

  /**
   * Frees what can be freed when the pool could not hold what {@code request} asks for; what rests
   * in quarantine for slow readers need not, because readers verify what they read.
   *
   * @throws TakoException UNAVAILABLE when there is no space at all until windows are closed that
   *     are being closed; or, unless the caller has waited for that, until what was deleted is
   *     reclaimed or clients can write no more to what was taken from them
   */
  public void makeRoomFor(Request request) throws TakoException {
    long wanted =
        switch (request.getOperationCase()) {
          case CREATE -> request.getCreate().getGrantBytes();
          case APPEND -> request.getAppend().getGrantBytes();
          case GRANT_EXTENTS -> request.getGrantExtents().getBytes();
          default -> 0;
        };
    if (wanted == 0 || hasRoom(wanted)) {
      return;
    }
    pressed = true;
    long begin = clock.nanoTime();
    long seen = 0;
    boolean closing = false;
    boolean writable = false;
    boolean progress = true;
    while (!hasRoom(wanted)
        && (progress || seen < machine.quarantinedCount())
        && clock.nanoTime() - begin < BUDGET_NS) {
      boolean reclaiming = machine.reclaimPending();
      if (reclaiming) {
        reclaim();
      }
      Round round = freeUntil(clock.currentTimeMillis(), true);
      closing |= round.closing;
      writable |= round.writable;
      progress = (reclaiming && !reclaimRefused) || round.freed > 0;
      seen = progress ? 0 : seen + FREE_EXTENTS;
    }
    boolean waits = (writable || machine.reclaimPending()) && !request.getHasWaited();
    if ((closing || waits)
        && request.hasGrantExtents()
        && machine.usage().getFree() < Layout.UNIT_SIZE) {
      throw new TakoException(
          Status.UNAVAILABLE, "the space of other files is being freed at the moment; try again");
    }
  }

  private boolean hasRoom(long bytes) {
    SpaceUsage usage = machine.usage();
    return usage.getFree() >= bytes + Layout.EXTENT_SIZE_MAX;
  }

  private void freeQuarantined() throws TakoException {
    long untilMs = clock.currentTimeMillis() - settings.quarantine().toMillis();
    Round round = freeUntil(untilMs, pressed);
    // Those that cannot be freed yet wait for the next time.
    freeing = round.freed > 0 || machine.hasFreshQuarantined(untilMs);
    pressed &= freeing;
  }

  /**
   * Frees some of the extents that rest since {@code untilMs}, that nobody can write and that no
   * reader holds. Grantees that stand in the way are fenced if their session has ended, if they had
   * the lease's soft limit to release it, or if space is short.
   */
  private Round freeUntil(long untilMs, boolean spaceIsShort) throws TakoException {
    List<QuarantinedExtent> resting = machine.quarantined(untilMs, FREE_EXTENTS);
    FreeExtents.Builder free = FreeExtents.newBuilder();
    long patience = clock.currentTimeMillis() - settings.leaseSoftLimit().toMillis();
    boolean closing = false;
    boolean writable = false;
    Set<Location> held = holds.held(resting.stream().map(e -> Location.of(e.extent())).toList());
    for (QuarantinedExtent extent : resting) {
      if (held.contains(Location.of(extent.extent()))) {
        continue;
      }
      long grantee = extent.granteeId();
      if (grantee == 0 || isFenced(extent)) {
        free.addExtents(extent.extent());
        continue;
      }
      writable = true;
      boolean windows = dataConnections.takesWindows(grantee);
      boolean outOfPatience = extent.sinceMs() < patience;
      closing |= windows && !outOfPatience;
      if ((spaceIsShort && !windows) || machine.session(grantee) == null || outOfPatience) {
        fence(grantee);
      }
    }
    if (free.getExtentsCount() > 0) {
      journal.execute(entry().setFreeExtents(free).build());
      counters.add("extents.freed", free.getExtentsCount());
    }
    return new Round(free.getExtentsCount(), closing, writable);
  }

  private boolean isFenced(QuarantinedExtent extent) {
    return dataConnections.isFenced(
        extent.granteeId(), Location.of(extent.extent()), extent.sinceMs());
  }

  /**
   * The result of one round over some quarantined extents.
   *
   * @param freed how many could be freed
   * @param closing whether windows are being closed that others wait for
   * @param writable whether there were any that somebody may still write
   */
  private record Round(int freed, boolean closing, boolean writable) {}

  /** Clients whose connections to the data zone must end; asked once each time. */
  public List<Long> clientsToFence() {
    List<Long> clients = new ArrayList<>(toFence);
    toFence.clear();
    return clients;
  }

  private void reclaim() throws TakoException {
    Reply reply =
        journal.execute(entry().setReclaim(Reclaim.newBuilder().setLimit(RECLAIM_ENTRIES)).build());
    reclaimRefused = reply.getStatus() != Status.OK;
    counters.add("reclaims", 1);
  }

  private LogEntry.Builder entry() {
    return LogEntry.newBuilder().setTimeMs(clock.currentTimeMillis());
  }
}
