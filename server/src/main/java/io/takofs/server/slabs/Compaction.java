package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CloseSlab;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantMove;
import io.takofs.proto.LogEntry;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.extent.CommittedExtent;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.namespace.operation.MoveOperation;
import io.takofs.server.slabs.SlabSupply.Shortage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Empties slabs of which little is used when their room is needed and there is no wholly free one:
 * for files of another number of copies, for a copy that is to be made again on a full server, or
 * for writers that will miss a server ({@link KeptSlabs}). One slab at a time: it is closed, its
 * extents move to others of its kind that have room, and then it goes. Nobody writes in it, and
 * none of its files is open; when that changes, or a server does not answer, repair opens it again,
 * as it does after a leader was started again.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class Compaction {
  private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);

  /** Batches that are copied at a time. */
  private static final int BATCHES_MAX = 4;

  /** Slabs whose records one look reads. */
  private static final int LOOK_MAX = 32;

  /** Pause between two looks for a slab. */
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Pause between two steps with a slab that has no batch. */
  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** A slab of which nothing has moved for so long is given up. */
  private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(30);

  /**
   * Time for which a slab that could not be emptied is not tried again; twice as long each time.
   */
  private static final long REST_MIN_NS = TimeUnit.SECONDS.toNanos(10);

  private static final long REST_MAX_NS = TimeUnit.MINUTES.toNanos(10);

  /** A slab that could not be emptied. */
  private record Rest(long lengthNs, long untilNs) {}

  private final Clock clock;
  private final Entries entries;
  private final StateMachine machine;
  private final SlabSupply supply;
  private final ServerWatch watch;
  private final SlabRepair repair;
  private final BatchCopier copier;
  private final Map<Long, Rest> resting = new HashMap<>(); // by slab
  private final Deque<GrantMove> toMove = new ArrayDeque<>();
  private final List<MoveBatch> moving = new ArrayList<>();
  private long slab; // that is being emptied; 0 for none
  private int version; // of it
  private long progressNs;
  private long lookedNs;
  private long emptied;

  public Compaction(
      Clock clock,
      Entries entries,
      StateMachine machine,
      SlabSupply supply,
      ServerWatch watch,
      SlabRepair repair,
      BatchCopier copier) {
    this.clock = clock;
    this.entries = entries;
    this.machine = machine;
    this.supply = supply;
    this.watch = watch;
    this.repair = repair;
    this.copier = copier;
    this.lookedNs = clock.nanoTime() - LOOK_NS;
  }

  /** Nanoseconds until the next tick is wanted; answers that are awaited ask for one. */
  public long pauseNs() {
    if (slab == 0) {
      return isWanted() || !moving.isEmpty() ? LOOK_NS : Long.MAX_VALUE;
    }
    if (!copier.obstacle().isEmpty()) {
      return LOOK_NS;
    }
    return moving.isEmpty() ? STEP_NS : copier.pauseNs();
  }

  private boolean isWanted() {
    return !supply.shortages().isEmpty() || repair.wantsRoom();
  }

  /**
   * Does what is due.
   *
   * @throws TakoException when the log takes no entry
   */
  public void tick() throws TakoException {
    if (slab == 0) {
      for (MoveBatch batch : List.copyOf(moving)) { // which the log did not let end
        advance(batch);
      }
      look();
    }
    if (slab != 0) {
      advance();
    }
  }

  /**
   * Whether room may come soon for those who lack it: a slab is being emptied, or was found now to
   * be emptied, or there was no look for one since room is lacking, because servers copy.
   *
   * @throws TakoException when the log takes no entry
   */
  public boolean mayMakeRoom() throws TakoException {
    if (slab == 0) {
      look();
    }
    return slab != 0 || (isLate() && repair.isCopying());
  }

  /** Whether there was no look since somebody lacks room. */
  private boolean isLate() {
    return supply.shortages().stream()
        .anyMatch(each -> !each.kept() && lookedNs - each.firstNs() < 0);
  }

  // ---- which slab

  private void look() throws TakoException {
    if ((clock.nanoTime() - lookedNs < LOOK_NS && !isLate())
        || !isWanted()
        || supply.isAsking()
        || !copier.obstacle().isEmpty()) {
      return;
    }
    lookedNs = clock.nanoTime();
    resting.keySet().removeIf(id -> machine.slabs().get(id) == null);
    Candidates candidates = new Candidates();
    List<Slab> chosen = candidates.forRepair();
    for (Shortage shortage : supply.shortages()) {
      chosen = chosen.isEmpty() ? candidates.forWriters(shortage) : chosen;
    }
    if (!chosen.isEmpty()) {
      begin(chosen.get(0));
    }
  }

  /**
   * The slabs that could be emptied at the moment of one look, those of which least is used first.
   */
  private final class Candidates {
    private final Set<Integer> avoided = watch.avoided(0, machine.slabs().servers());
    private final Map<Integer, Long> room = new HashMap<>(); // free bytes by kind
    private final List<Slab> slabs =
        machine.slabs().all().stream()
            .filter(this::isCandidate)
            .sorted(Comparator.comparingLong(each -> machine.slabs().usedBytesOf(each.getId())))
            .toList();
    private int read; // slabs whose records were read

    private boolean isCandidate(Slab slab) {
      Rest rest = resting.get(slab.getId());
      return !slab.getClosed()
          && (rest == null || lookedNs - rest.untilNs >= 0)
          && mayGive(slab, room(slab), 0)
          && slab.getReplicasList().stream().noneMatch(each -> avoided.contains(each.getServer()))
          && repair.isIntact(slab);
    }

    private long room(Slab slab) {
      return room.computeIfAbsent(slab.getWanted(), kind -> machine.freeBytes(kind, avoided));
    }

    /** Whether its kind, of which {@code free} bytes are free, has {@code kept} without it. */
    private boolean mayGive(Slab slab, long free, long kept) {
      return free - bytes(slab) >= kept;
    }

    private long bytes(Slab slab) {
      return (long) (slab.getEndUnit() - slab.getFirstUnit()) * Layout.UNIT_SIZE;
    }

    /** One that takes the room that a replica needs; none if there is none. */
    List<Slab> forRepair() {
      return slabs.stream().filter(repair::wantsRoomOf).filter(this::mayMove).limit(1).toList();
    }

    /**
     * Those that have to go before a slab can be made, or before servers have those that they are
     * to keep; none when none has to, or a slab cannot be made all the same. A kind of files that
     * gives keeps a slab's worth, which is more than one has that lacks room: so no two take slabs
     * from each other by turns.
     */
    List<Slab> forWriters(Shortage shortage) {
      Map<Integer, Long> lacking = supply.lacking(shortage);
      int needed = supply.needed(shortage, lacking.size());
      Map<Integer, Long> left = new HashMap<>(room);
      List<Slab> chosen = new ArrayList<>();
      if (isEnough(lacking, needed)) {
        return chosen;
      }
      for (Slab slab : slabs) {
        long free = left.getOrDefault(slab.getWanted(), 0L);
        boolean helps =
            slab.getReplicasList().stream()
                .anyMatch(each -> lacking.getOrDefault(each.getServer(), 0L) > 0);
        if (helps && mayGive(shortage, slab, free) && mayMove(slab)) {
          chosen.add(slab);
          left.put(slab.getWanted(), free - bytes(slab));
          slab.getReplicasList()
              .forEach(each -> lacking.computeIfPresent(each.getServer(), (id, n) -> n - 1));
          if (isEnough(lacking, needed)) {
            return chosen;
          }
        }
      }
      return shortage.kept() ? chosen : List.of();
    }

    private boolean mayGive(Shortage shortage, Slab slab, long free) {
      return shortage.kept()
          ? slab.getWanted() == shortage.copies() && supply.mayGo(slab, free)
          : mayGive(slab, free, Layout.SLAB_SIZE);
    }

    private boolean isEnough(Map<Integer, Long> lacking, int needed) {
      return lacking.values().stream().filter(n -> n <= 0).count() >= needed;
    }

    /** Whether nobody writes in it or reads back from it, and no file in it is open. */
    private boolean mayMove(Slab slab) {
      return read++ < LOOK_MAX
          && !machine.isWrittenIn(slab.getId())
          && !machine.isReadBack(slab.getId())
          && machine.extentsIn(slab.getId()).stream()
              .noneMatch(extent -> machine.moves().isOpen(extent.fileId()));
    }
  }

  private void begin(Slab chosen) throws TakoException {
    Reply reply =
        entries.execute(
            LogEntry.newBuilder()
                .setTimeMs(clock.currentTimeMillis())
                .setCloseSlab(
                    CloseSlab.newBuilder().setId(chosen.getId()).setVersion(chosen.getVersion()))
                .build());
    if (reply.getStatus() == Status.OK && reply.getSlabs(0).getClosed()) {
      slab = chosen.getId();
      version = chosen.getVersion();
      progressNs = clock.nanoTime();
      repair.leaveClosed(slab);
    }
  }

  // ---- emptying it

  private void advance() throws TakoException {
    Slab now = machine.slabs().get(slab);
    if (now == null || !now.getClosed() || now.getVersion() != version || !repair.isIntact(now)) {
      giveUp("it has changed");
      return;
    }
    if (!copier.obstacle().isEmpty()) {
      copier.excuse();
      progressNs = clock.nanoTime();
      return;
    }
    if (clock.nanoTime() - progressNs >= STUCK_NS + copier.patienceNs()) {
      giveUp("nothing has moved for too long");
      return;
    }
    for (MoveBatch batch : List.copyOf(moving)) {
      if (moving.contains(batch)) { // all are given up with the first one
        advance(batch);
      }
    }
    if (slab != 0 && moving.isEmpty() && toMove.isEmpty()) {
      next(now);
    }
    while (slab != 0 && moving.size() < BATCHES_MAX && !toMove.isEmpty()) {
      move(toMove.remove());
    }
  }

  /** Notes what is in the slab, or removes it when nothing is. */
  private void next(Slab now) throws TakoException {
    List<CommittedExtent> extents = machine.extentsIn(slab);
    if (extents.isEmpty()) {
      if (machine.isUnused(slab)) {
        remove(now);
      }
      return;
    }
    List<Extent> records = machine.committedIn(slab);
    Map<Long, GrantMove.Builder> byFile = new HashMap<>();
    for (int i = 0; i < records.size(); i++) {
      long file = extents.get(i).fileId();
      GrantMove.Builder move =
          byFile.computeIfAbsent(
              file, id -> GrantMove.newBuilder().setFileId(id).setEmptiesSlab(true));
      move.addExtents(records.get(i));
      if (move.getExtentsCount() == MoveOperation.EXTENTS_MAX) {
        toMove.add(byFile.remove(file).build());
      }
    }
    byFile.values().forEach(move -> toMove.add(move.build()));
  }

  private void remove(Slab now) throws TakoException {
    if (!repair.remove(now)) {
      giveUp("the group refuses to remove it");
      return;
    }
    emptied++;
    supply.forgetShortages();
    Facts.of("slab", slab).info(LOG, "a slab was emptied because its room is needed");
    end();
  }

  private void move(GrantMove move) throws TakoException {
    BatchCopier.Begun begun = copier.begin(move, watch.avoided(0, machine.slabs().servers()));
    boolean isThere = machine.moves().isPresent(move.getFileId(), move.getExtents(0));
    if (begun.batch() == null && begun.refusal().isEmpty() && !isThere) {
      return; // it was deleted, or cut; what is left is looked at again
    }
    if (begun.batch() == null) {
      giveUp(begun.refusal().isEmpty() ? "its extents find no room elsewhere" : begun.refusal());
    } else {
      moving.add(begun.batch());
    }
  }

  private void advance(MoveBatch batch) throws TakoException {
    switch (copier.advance(batch, slab != 0 && !machine.moves().isOpen(batch.fileId))) {
      case MOVED -> {
        moving.remove(batch);
        progressNs = clock.nanoTime();
      }
      case GIVEN_UP -> {
        moving.remove(batch);
        if (slab != 0) {
          giveUp(batch.trouble);
        }
      }
      case COPIES -> {}
    }
  }

  /** Repair opens the slab again. */
  private void giveUp(String why) throws TakoException {
    Facts.of("slab", slab).info(LOG, "a slab is not emptied now: " + why);
    Rest former = resting.get(slab);
    long lengthNs = former == null ? REST_MIN_NS : Math.min(REST_MAX_NS, 2 * former.lengthNs);
    resting.put(slab, new Rest(lengthNs, clock.nanoTime() + lengthNs));
    end();
    for (MoveBatch batch : List.copyOf(moving)) {
      advance(batch);
    }
  }

  private void end() {
    slab = 0;
    toMove.clear();
    repair.leaveClosed(0);
  }

  // ---- telling

  /** Adds how many slabs were emptied. */
  public RepairStatus status(RepairStatus repaired) {
    return repaired.toBuilder().setSlabsEmptied(emptied).build();
  }
}
