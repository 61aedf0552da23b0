package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.CloseSlab;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.FileHealth;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenSlab;
import io.takofs.proto.RemoveSlab;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.proto.SwitchReplica;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.slabs.SlabConditions.Condition;
import io.takofs.server.slabs.SlabConditions.Lack;
import io.takofs.server.slabs.StuckSlabs.Want;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees that slabs get back the replicas that they lost, that are to leave, or that they never had:
 * closes the slab, has a server copy what is committed into a slab that it lends, puts that replica
 * in the place of the other, and opens the slab.
 *
 * <p>Everything is decided by what the state and the servers say, so a leader that was started
 * again goes on: closed slabs are looked at again, and what was leased for an attempt that nobody
 * remembers is returned as every lease that the state does not name.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class SlabRepair {
  private static final Logger LOG = LoggerFactory.getLogger(SlabRepair.class);

  /** Pause between two walks through the slabs. */
  private static final long WALK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Pause within a walk, in which calls are executed. */
  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Slabs that one tick looks at. */
  private static final int WALK_MAX = 512;

  /** Slabs that one tick closes, opens or removes. */
  private static final int CHANGES_MAX = 16;

  /** Slabs that one tick tries to begin with. */
  private static final int BEGIN_MAX = 32;

  /**
   * A slab that lacks something; those with the fewest living replicas come first.
   *
   * @param isLast whether nothing committed is in it, as was seen when it could have begun
   */
  private record Waiting(boolean isLast, int living, long slab) implements Comparable<Waiting> {
    private static final Comparator<Waiting> ORDER =
        Comparator.comparing(Waiting::isLast)
            .thenComparingInt(Waiting::living)
            .thenComparingLong(Waiting::slab);

    @Override
    public int compareTo(Waiting other) {
      return ORDER.compare(this, other);
    }
  }

  private final Clock clock;
  private final Entries entries;
  private final StateMachine machine;
  private final SlabLeases leases;
  private final ServerWatch watch;
  private final RepairSettings settings;
  private final SlabConditions conditions;
  private final RepairTargets targets;
  private final StuckSlabs stuck;
  private final Rebalance rebalance;
  private final BadFiles badFiles;
  private final Scrub scrub;
  private final CopyAttempts attempts;
  private BooleanSupplier isMoving = () -> false;
  private long leftClosed; // a slab that stays closed; 0 for none
  private boolean begunWithAll = true; // of those that lack something
  private final Map<Long, Waiting> lacking = new HashMap<>(); // by slab
  private final NavigableSet<Waiting> toBegin = new TreeSet<>(); // of those, not tried in this walk
  private final RoomWanted roomWanted = new RoomWanted();
  private long cursor; // the slab that was looked at last; 0 between two walks
  private long walkedNs;
  private int changes;

  public SlabRepair(
      Clock clock,
      Entries entries,
      StateMachine machine,
      SlabLeases leases,
      ServerWatch watch,
      RepairSettings settings) {
    this.clock = clock;
    this.entries = entries;
    this.machine = machine;
    this.leases = leases;
    this.watch = watch;
    this.settings = settings;
    this.conditions = new SlabConditions(machine, watch, leases);
    this.targets = new RepairTargets(clock, leases, watch);
    this.stuck = new StuckSlabs(conditions, targets);
    this.rebalance = new Rebalance(clock, machine, leases, watch, conditions, targets);
    this.badFiles = new BadFiles(machine);
    this.scrub = new Scrub(clock, machine, leases, conditions, badFiles, settings);
    this.attempts =
        new CopyAttempts(clock, machine, leases, conditions, targets, settings.bandwidth());
    this.walkedNs = clock.nanoTime() - WALK_NS;
  }

  /**
   * Does what is due. Nothing is copied while the map is not known, or while so many servers are
   * silent that this one is more likely cut off than they are dead.
   *
   * @throws TakoException when the log takes no entry
   */
  public void tick() throws TakoException {
    changes = 0;
    badFiles.tick();
    if (leases.lenders().isEmpty() || watch.isAlone()) {
      attempts.excuse();
      scrub.excuse();
      stuck.retain(Set.of()); // what is there now is not known
      begunWithAll = true;
      walk(this::settle);
      return;
    }
    attempts.advance(this::replace);
    walk(this::look);
    begin();
    if (attempts.isEmpty() && !isMoving.getAsBoolean()) {
      scrub.tick();
    } else {
      scrub.excuse(); // servers are busy copying
    }
  }

  // ---- for what else is copied

  /** Nothing is verified while {@code isMoving} says that files move. */
  public void setMoving(BooleanSupplier isMoving) {
    this.isMoving = isMoving;
  }

  /** Whether a server is full that could get a replica of some slab. */
  boolean wantsRoom() {
    return !roomWanted.isEmpty();
  }

  /** Whether that needs room which {@code slab} takes. */
  boolean wantsRoomOf(Slab slab) {
    return roomWanted.isIn(slab);
  }

  /**
   * {@code slab} is being emptied: while all of its replicas are there it is neither opened nor
   * given others. 0 when none is emptied any more.
   */
  void leaveClosed(long slab) {
    leftClosed = slab;
    forget(slab);
  }

  /** Whether replicas are being made. */
  boolean isCopying() {
    return !attempts.isEmpty();
  }

  /** As {@link SlabConditions#sources}. */
  List<Replica> sources(Slab slab) {
    return conditions.sources(slab);
  }

  /** As {@link SlabConditions#isIntact}. */
  boolean isIntact(Slab slab) {
    return conditions.isIntact(slab);
  }

  /** A copy found wrong bytes in the replica of {@code slab} at {@code server}. */
  void damaged(Slab slab, int server) {
    conditions.damaged(slab, server);
  }

  /** As {@link SlabLeases#copy}. */
  void copy(CopyExtents.Builder copy, Consumer<Reply> answer) {
    leases.copy(copy, answer);
  }

  /** Bytes a second that all copies together may read; 0 for no limit. */
  long bandwidth() {
    return settings.bandwidth();
  }

  /** Nanoseconds until the next tick is wanted. */
  public long pauseNs() {
    boolean isWaiting = cursor == 0 && begunWithAll;
    return isWaiting ? Math.min(attempts.pauseNs(), scrub.pauseNs()) : STEP_NS;
  }

  /**
   * Clients say that replicas have wrong bytes; believed of servers that keep a replica, and of the
   * present replicas only: many readers find the same one, some after it was replaced.
   */
  public void report(ReportReplicas reports) {
    for (ReportReplicas.Report report : reports.getReportsList()) {
      Slab slab = machine.slabs().get(report.getSlab());
      if (slab != null && report.getWrongBytes() && report.getVersion() == slab.getVersion()) {
        conditions.damaged(slab, report.getServer());
      }
    }
  }

  // ---- what is to be done

  /** What is done with each slab. */
  @FunctionalInterface
  private interface Visit {
    void of(Slab slab) throws TakoException;
  }

  private void walk(Visit visit) throws TakoException {
    if (cursor == 0 && clock.nanoTime() - walkedNs < WALK_NS) {
      return;
    }
    if (cursor == 0) {
      walkedNs = clock.nanoTime();
    }
    List<Slab> next = machine.slabs().after(cursor, WALK_MAX);
    for (Slab slab : next) {
      if (changes >= CHANGES_MAX) {
        return;
      }
      visit.of(slab);
      cursor = slab.getId();
    }
    if (next.size() < WALK_MAX) {
      cursor = 0;
      List.copyOf(lacking.keySet()).stream()
          .filter(id -> machine.slabs().get(id) == null)
          .forEach(this::forget);
      stuck.retain(lacking.keySet());
      roomWanted.turn();
      badFiles.prune();
      leases.tellEmptied();
      if (settings.rebalance() && lacking.isEmpty() && attempts.isEmpty()) {
        rebalance.next().ifPresent(conditions::move);
      }
    }
  }

  /**
   * Nothing may be granted where a server says that it does not lend the memory, and everything
   * else that is there can be written again: neither depends on who is silent.
   */
  private void settle(Slab slab) throws TakoException {
    if (!leases.lenders().isEmpty()) { // else the map is not known, and so who should answer
      badFiles.readable(slab.getId(), conditions.of(slab).living() > 0);
    }
    if (slab.getReplicasList().stream().anyMatch(leases::isLost)) {
      close(slab);
    } else if (!attempts.contains(slab.getId())) {
      reopen(slab);
    }
  }

  /** Closes what has lost a replica, opens what lacks nothing, and notes what is to be copied. */
  private void look(Slab slab) throws TakoException {
    if (attempts.contains(slab.getId()) || slab.getId() == leftClosed) {
      return;
    }
    Condition condition = conditions.of(slab);
    badFiles.readable(slab.getId(), condition.living() > 0);
    if (makesRoom(slab)) {
      remove(slab);
      return;
    }
    if (condition.lack() == Lack.NOTHING) {
      forget(slab.getId());
      reopen(slab);
      return;
    }
    boolean goes = condition.lack() == Lack.LOST || condition.lack() == Lack.LEAVING;
    if (goes && conditions.isEmpty(slab)) {
      remove(slab);
      return;
    }
    if (condition.lack() == Lack.LOST) {
      close(slab);
    }
    Waiting before = lacking.get(slab.getId());
    boolean isLast = before != null && before.isLast() && machine.extentsIn(slab.getId()).isEmpty();
    noteLack(new Waiting(isLast, condition.living(), slab.getId()));
  }

  private void noteLack(Waiting waiting) {
    forget(waiting.slab());
    lacking.put(waiting.slab(), waiting);
    toBegin.add(waiting);
  }

  /** Whether nothing is in {@code slab}, and a server needs its room for a replica of another. */
  private boolean makesRoom(Slab slab) {
    return roomWanted.isIn(slab) && machine.slabs().isWhollyFree(slab.getId());
  }

  private void forget(long slab) {
    Waiting waiting = lacking.remove(slab);
    if (waiting != null) {
      toBegin.remove(waiting);
    }
  }

  /** A closed slab is opened when all of its replicas are there, or goes when nothing is in it. */
  private void reopen(Slab slab) throws TakoException {
    if (!slab.getClosed() || slab.getId() == leftClosed || !conditions.isIntact(slab)) {
      return;
    }
    if (machine.slabs().isWhollyFree(slab.getId())) {
      remove(slab);
      return;
    }
    OpenSlab.Builder open = OpenSlab.newBuilder().setId(slab.getId()).setVersion(slab.getVersion());
    log(entry().setOpenSlab(open));
  }

  /** Each entry ends the growth of some files, and the last one closes the slab. */
  private boolean close(Slab slab) throws TakoException {
    CloseSlab.Builder close =
        CloseSlab.newBuilder().setId(slab.getId()).setVersion(slab.getVersion());
    boolean done = slab.getClosed();
    while (!done && log(entry().setCloseSlab(close))) {
      done = machine.slabs().get(slab.getId()).getClosed();
    }
    return done;
  }

  /**
   * Nobody can write in a slab without extents, so its servers need not be told of anybody. Where
   * extents rest, the state says who can.
   */
  boolean remove(Slab slab) throws TakoException {
    boolean isGone = log(entry().setRemoveSlab(RemoveSlab.newBuilder().setId(slab.getId())));
    if (isGone) {
      roomWanted.made();
      forget(slab.getId());
      for (Replica replica : slab.getReplicasList()) {
        if (machine.leftReplicas().contains(replica)) {
          leases.giveBackLeft(replica.getServer());
        } else {
          leases.giveBack(replica);
        }
      }
    }
    return isGone;
  }

  private LogEntry.Builder entry() {
    return LogEntry.newBuilder().setTimeMs(clock.currentTimeMillis());
  }

  private boolean log(LogEntry.Builder entry) throws TakoException {
    changes++;
    Reply reply = entries.execute(entry.build());
    if (reply.getStatus() != Status.OK) {
      LOG.warn("a slab stays as it is: {}", reply.getMessage());
    }
    return reply.getStatus() == Status.OK;
  }

  // ---- beginning

  private void begin() throws TakoException {
    Set<Integer> asked = new HashSet<>(); // for a slab that has not come yet
    List<Waiting> tried = toBegin.stream().limit(BEGIN_MAX).toList();
    // Those that cannot begin must not keep the others waiting until the next walk.
    begunWithAll = toBegin.size() == tried.size();
    for (Waiting next : tried) {
      Slab slab = machine.slabs().get(next.slab());
      if (changes >= CHANGES_MAX) {
        return;
      }
      if (slab == null) {
        forget(next.slab());
      } else {
        begin(slab, asked);
      }
    }
    begunWithAll |= toBegin.containsAll(tried); // they wait for servers
  }

  private void begin(Slab slab, Set<Integer> asked) throws TakoException {
    Condition condition = conditions.of(slab);
    if (condition.lack() == Lack.NOTHING) {
      forget(slab.getId());
      return; // the next walk opens it
    }
    boolean moves = condition.lack() == Lack.MOVING;
    List<SlabLender> candidates =
        moves ? rebalance.betterServers(slab, condition.leaving()) : candidates(slab);
    if (candidates.isEmpty() || conditions.sources(slab).isEmpty()) {
      if (!moves) {
        noteWait(slab, candidates.isEmpty() && condition.lack() != Lack.MISSING);
      }
      rest(slab, condition);
      return;
    }
    if (machine.slabs().isWhollyFree(slab.getId())) {
      remove(slab); // a new one has as many replicas as there are servers
      return;
    }
    SlabLender target = // the work is spread over all that are as good
        candidates.stream()
            .filter(each -> attempts.mayBegin(each.server) && !asked.contains(each.server))
            .min(Comparator.comparing(each -> attempts.countAt(each.server)))
            .orElse(null);
    if (target == null) {
      if (candidates.stream().noneMatch(each -> asked.contains(each.server))) {
        stuck.remove(slab.getId()); // they are busy, with what waited as well
      }
      return;
    }
    Waiting waiting = lacking.get(slab.getId());
    if (!waiting.isLast() && machine.extentsIn(slab.getId()).isEmpty()) {
      // Nothing committed can be lost with it, and it may go by itself: others get the room before.
      noteLack(new Waiting(true, waiting.living(), waiting.slab()));
      return;
    }
    LeasedSlab lent = leases.take(target, slab.getFirstUnit(), slab.getEndUnit());
    if (lent == null) {
      if (target.exhausted && !moves) { // a server that answers at once has said so
        roomWanted.add(target.server, slab);
      }
      asked.add(target.server);
      return;
    }
    forget(slab.getId());
    stuck.remove(slab.getId());
    attempts.begin(slab, target.replica(lent));
    close(slab);
  }

  /**
   * Notes for what {@code slab} waits.
   *
   * @param isStuck whether it lacks a server; one that is short has what copies there can be
   */
  private void noteWait(Slab slab, boolean isStuck) {
    if (!conditions.sources(slab).isEmpty()) { // else room would be of no use
      for (int leaving : conditions.leaving(slab)) {
        targets.full(slab, leaving).forEach(server -> roomWanted.add(server, slab));
      }
    }
    if (isStuck) {
      stuck.add(slab);
    } else {
      stuck.remove(slab.getId());
    }
  }

  /** The servers for the first replica to be replaced for which there are any. */
  private List<SlabLender> candidates(Slab slab) {
    for (int leaving : conditions.leaving(slab)) {
      List<SlabLender> found = targets.candidates(slab, leaving);
      if (!found.isEmpty()) {
        return found;
      }
    }
    return List.of();
  }

  /** Nothing can be done for a slab until the next walk, for which a slab need not be closed. */
  private void rest(Slab slab, Condition condition) throws TakoException {
    conditions.stay(slab);
    toBegin.remove(lacking.get(slab.getId()));
    if (condition.lack() == Lack.MISSING) {
      lacking.remove(slab.getId());
    }
    if (condition.lack() != Lack.LOST) {
      reopen(slab);
    }
  }

  /** Everything that is committed has been copied: the new replica counts from now on. */
  private void replace(CopyAttempt attempt, int leaving) throws TakoException {
    if (changes >= CHANGES_MAX) {
      return; // the next tick does it
    }
    SwitchReplica.Builder change =
        SwitchReplica.newBuilder()
            .setId(attempt.slab)
            .setVersion(attempt.version)
            .setLeaving(leaving)
            .setJoining(attempt.target);
    if (!log(entry().setSwitchReplica(change))) {
      attempts.giveUp(attempt, "the group refuses it");
      return;
    }
    attempts.done(attempt);
    Facts.of("slab", attempt.slab)
        .and("replica", attempt.target.getServer())
        .and("instead_of", leaving)
        .and("bytes", attempt.copiedBytes())
        .info(LOG, "a slab has a new replica");
    look(machine.slabs().get(attempt.slab));
  }

  // ---- telling

  /**
   * Goes on although so many servers are silent, without those, until they answer.
   *
   * @return what is repaired
   * @throws TakoException PERMISSION_DENIED for anybody but a superuser
   */
  public RepairStatus force(Caller caller) throws TakoException {
    if (!caller.getSuperuser()) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          "user "
              + caller.getUser()
              + " may not force repair: that takes the server's user or its supergroup");
    }
    if (watch.goOn()) {
      LOG.info("repair goes on without servers {}, says {}", watch.goesWithout(), caller.getUser());
    }
    return status();
  }

  /** The files that cannot be read now, as far as is known. */
  public FileHealth files() {
    return badFiles.health();
  }

  /** How much there is to do, and was done. */
  public RepairStatus status() {
    long left = 0;
    for (long slab : lacking.keySet()) {
      left += machine.slabs().usedBytesOf(slab);
    }
    left += attempts.bytesLeft();
    RepairProgress progress = attempts.progress();
    return RepairStatus.newBuilder()
        .setSlabsWaiting(lacking.size())
        .setSlabsCopiedNow(attempts.count())
        .setSlabsDone(progress.slabs())
        .setBytesLeft(left)
        .setBytesDone(progress.bytes())
        .setBytesPerSecond(progress.bytesPerSecond())
        .setBytesPerSecondMax(settings.bandwidth())
        .setBytesVerified(scrub.bytes())
        .setWrongCopies(scrub.wrong())
        .addAllWaitsFor(watch.waitsFor())
        .addAllGoesWithout(watch.goesWithout())
        .setSlabsWithoutServer(stuck.count(lacking.keySet(), Want.SERVER))
        .setSlabsWithoutRoom(stuck.count(lacking.keySet(), Want.ROOM))
        .build();
  }
}
