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
import io.takofs.proto.Status;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.state.SessionInfo;
import io.takofs.server.slabs.Compaction;
import io.takofs.server.slabs.FileMoves;
import io.takofs.server.slabs.KeptSlabs;
import io.takofs.server.slabs.ServerWatch;
import io.takofs.server.slabs.SlabLeases;
import io.takofs.server.slabs.SlabRepair;
import io.takofs.server.slabs.SlabSupply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Background work of the server: ends sessions and leases, frees extents, empties what was deleted,
 * has lost copies made again and files moved, makes checkpoints. All of it goes through the log
 * like everything else.
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

  /** Time that windows on an extent have to close by themselves, when space is short. */
  private static final long CLOSING_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Time after a shortage in which windows have only {@link #CLOSING_NS} to close. */
  private static final long PRESSED_NS = 10 * CLOSING_NS;

  private static final int CHECKPOINT_PAGES = 256;
  private static final int RECLAIM_ENTRIES = 64;
  private static final int FREE_EXTENTS = 128;

  private final Clock clock;
  private final ServerSettings settings;
  private final Journal journal;
  private final StateMachine machine;
  private final ClientTable sessions;
  private final SafeMode safeMode;
  private final SlabLeases leases;
  private final SlabSupply supply;
  private final SlabRepair repair;
  private final FileMoves moves;
  private final Compaction compaction;
  private final ServerWatch watch;
  private final KeptSlabs kept;
  private final Fencing fencing;
  private final Counters counters;
  private final Set<Long> lapsed = new TreeSet<>();
  private final Set<Long> toFence = new LinkedHashSet<>();
  private long lastScanNs;

  /** Time of the last shortage; see {@link #PRESSED_NS}. */
  private long pressedNs;

  /** There may be more extents whose rest is over. */
  private boolean freeing;

  /** There is no room for it until something else has changed. */
  private boolean reclaimRefused;

  private boolean countRefused; // as reclaimRefused

  public Housekeeping(LogGroup group) {
    this.clock = group.clock;
    this.settings = group.settings;
    this.journal = group.journal();
    this.machine = group.machine();
    this.sessions = group.sessions();
    this.safeMode = group.safeMode();
    this.counters = group.counters;
    this.leases = group.leases();
    this.supply = group.supply();
    this.repair = group.repair();
    this.moves = group.moves();
    this.compaction = group.compaction();
    this.watch = group.watch();
    this.kept = new KeptSlabs(clock, machine, supply, watch);
    this.fencing = new Fencing(clock, group.servers, group::leadership, machine.slabs()::get);
    this.lastScanNs = clock.nanoTime() - IDLE_NS;
    this.pressedNs = clock.nanoTime() - PRESSED_NS;
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
        supply.tick();
        kept.tick();
        leases.tick();
        freeing = true;
        reclaimRefused = false;
        countRefused = false;
      }
      repair.tick();
      moves.tick();
      compaction.tick();
      do {
        workOff();
      } while (hasBacklog() && clock.nanoTime() - begin < BUDGET_NS);
      advanceCheckpoint();
    } catch (TakoException e) {
      LOG.warn("housekeeping has to wait: {}", e.getMessage());
      return IDLE_NS;
    }
    long copyingNs = Math.min(repair.pauseNs(), Math.min(moves.pauseNs(), compaction.pauseNs()));
    return isBusy() ? BUSY_NS : Math.min(IDLE_NS, copyingNs);
  }

  /** Goes on with a checkpoint that is under way. */
  public void advanceCheckpoint() {
    journal.advanceCheckpoint(CHECKPOINT_PAGES);
  }

  /** Whether a checkpoint is under way. */
  public boolean isCheckpointing() {
    return journal.checkpointing();
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
   * @return where extents may be granted to the client: with fewer servers avoided when there is no
   *     space without them
   * @throws TakoException UNAVAILABLE when there is no space at all until a server lends some, or
   *     only with a copy at a server that did not answer the client; or, unless the caller has
   *     waited for that, until what was deleted is reclaimed, and what rests can be freed: servers
   *     have answered, clients can write no more to what was taken from them, the slabs that it is
   *     in have all replicas again; NO_SPACE when servers of a cluster are full
   */
  public GrantPlacement makeRoomFor(Caller caller, Request request, long clientId)
      throws TakoException {
    long asked =
        switch (request.getOperationCase()) {
          case CREATE -> request.getCreate().getGrantBytes();
          case APPEND -> request.getAppend().getGrantBytes();
          case GRANT_EXTENTS -> request.getGrantExtents().getBytes();
          default -> 0;
        };
    int copies = asked == 0 ? 0 : machine.copies(caller, request);
    if (copies == 0) {
      return GrantPlacement.NONE;
    }
    int near = sessions.nearServer(clientId);
    Set<Integer> avoided = watch.avoided(clientId, machine.slabs().servers());
    long most = StateMachine.GRANT_MAX;
    long wanted = (asked < 0 ? most : Math.min(asked, most)) + Layout.EXTENT_SIZE_MAX;
    if (supply.makeRoom(copies, near, avoided, wanted)) {
      return new GrantPlacement(near, avoided);
    }
    long begin = clock.nanoTime();
    pressedNs = begin;
    long seen = 0;
    boolean progress = true;
    while (!supply.makeRoom(copies, near, avoided, wanted)
        && (progress || seen < machine.quarantinedCount())
        && clock.nanoTime() - begin < BUDGET_NS) {
      boolean reclaiming = machine.reclaimPending();
      if (reclaiming) {
        reclaim();
      }
      int freed = freeUntil(clock.currentTimeMillis(), true);
      progress = (reclaiming && !reclaimRefused) || freed > 0;
      seen = progress ? 0 : seen + FREE_EXTENTS;
    }
    if (machine.freeBytes(copies, avoided) >= Layout.UNIT_SIZE) {
      return new GrantPlacement(near, avoided);
    }
    if (request.hasGrantExtents()) {
      supply.checkServers(copies);
      boolean mayCome =
          machine.quarantinedCount() > 0
              || machine.reclaimPending()
              || (!request.getHasWaited() && compaction.mayMakeRoom());
      if (supply.isAsking() || (mayCome && !request.getHasWaited())) {
        throw new TakoException(
            Status.UNAVAILABLE, "the space of other files is being freed at the moment; try again");
      }
    }
    if (supply.isAsking()) {
      return new GrantPlacement(near, avoided);
    }
    Set<Integer> forbidden = watch.forbidden(clientId, machine.slabs().servers());
    if (request.hasGrantExtents()) {
      checkNotForbidden(copies, forbidden);
      if (machine.freeBytes(copies, Set.of()) < Layout.UNIT_SIZE) {
        supply.checkFull(copies, avoided);
      }
    }
    return new GrantPlacement(near, forbidden);
  }

  /**
   * @throws TakoException UNAVAILABLE when there is room only with a copy at a server that the
   *     client cannot use
   */
  private void checkNotForbidden(int copies, Set<Integer> forbidden) throws TakoException {
    if (machine.freeBytes(copies, forbidden) < Layout.UNIT_SIZE
        && machine.freeBytes(copies, Set.of()) >= Layout.UNIT_SIZE) {
      throw new TakoException(
          Status.UNAVAILABLE,
          ("there is room for a file of %d copies only with one on %s %s, which did not answer this"
                  + " client, or is not UP (tako status); start what is silent, take back what leaves"
                  + " (tako cluster add), or free space on the others")
              .formatted(
                  copies,
                  forbidden.size() == 1 ? "server" : "one of the servers",
                  forbidden.stream().map(String::valueOf).collect(Collectors.joining(", "))));
    }
  }

  private void freeQuarantined() throws TakoException {
    long untilMs = clock.currentTimeMillis() - settings.quarantine().toMillis();
    int freed = freeUntil(untilMs, clock.nanoTime() - pressedNs < PRESSED_NS);
    // Those that cannot be freed yet wait for the next time.
    freeing = freed > 0 || machine.hasFreshQuarantined(untilMs);
  }

  /**
   * Frees some of the extents that rest since {@code untilMs}, that nobody can write, that no
   * reader holds and whose writer does not want to read them back. Connections of grantees that
   * stand in the way are ended if their session has ended, if they had the lease's soft limit to
   * release it, or if space is short.
   *
   * @return how many could be freed
   */
  private int freeUntil(long untilMs, boolean spaceIsShort) throws TakoException {
    List<Quarantined> resting = machine.quarantined(untilMs, FREE_EXTENTS);
    resting.removeIf(machine::isKept);
    Duration patience = settings.leaseSoftLimit();
    long overdueMs = clock.currentTimeMillis() - patience.toMillis();
    Set<Quarantined> done =
        fencing.ask(
            resting,
            extent ->
                (extent.file() == 0 && extent.sinceMs() < overdueMs)
                    || fencing.askedForNs(extent) >= patience.toNanos()
                    || (spaceIsShort && fencing.askedForNs(extent) >= CLOSING_NS)
                    || machine.session(extent.grantee()) == null);
    FreeExtents.Builder free = FreeExtents.newBuilder();
    for (Quarantined extent : done) {
      free.addExtents(extent.range().toProto().setGeneration(extent.generation()));
    }
    if (free.getExtentsCount() > 0) {
      journal.execute(entry().setFreeExtents(free).build());
      counters.add("extents.freed", free.getExtentsCount());
    }
    return free.getExtentsCount();
  }

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
