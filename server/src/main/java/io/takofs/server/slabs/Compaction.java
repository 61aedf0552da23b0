package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
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
 * for files of another number of copies, or for a copy that is to be made again on a full server.
 * One slab at a time: it is closed, its extents move to others of its kind that have room, and then
 * it goes. Nobody writes in it, and none of its files is open; when that changes, or a server does
 * not answer, repair opens it again, as it does after a leader was started again.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class Compaction {
  private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);

  /** Batches that are copied at a time. */
  private static final int BATCHES_MAX = 4;

  /** Slabs whose records one look reads, those of which least is used first. */
  private static final int LOOK_MAX = 8;

  /** Pause between two looks for a slab. */
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Pause between two steps with a slab that has no batch. */
  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** A slab of which nothing has moved for so long is given up. */
  private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(30);

  /** Time for which a slab that could not be emptied is not tried again. */
  private static final long REST_NS = TimeUnit.SECONDS.toNanos(10);

  private final Clock clock;
  private final Entries entries;
  private final StateMachine machine;
  private final SlabSupply supply;
  private final ServerWatch watch;
  private final SlabRepair repair;
  private final BatchCopier copier;
  private final Map<Long, Long> resting = new HashMap<>(); // until when, by slab
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
      return isWanted() ? LOOK_NS : Long.MAX_VALUE;
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
    if (slab == 0 && clock.nanoTime() - lookedNs >= LOOK_NS) {
      look();
    }
    if (slab != 0) {
      advance();
    }
  }

  /**
   * Whether room may come soon for those who lack it: a slab is being emptied, or was found now to
   * be emptied.
   *
   * @throws TakoException when the log takes no entry
   */
  public boolean mayMakeRoom() throws TakoException {
    if (slab == 0) {
      look();
    }
    return slab != 0;
  }

  // ---- which slab

  private void look() throws TakoException {
    lookedNs = clock.nanoTime();
    resting.values().removeIf(until -> lookedNs - until >= 0);
    if (!isWanted() || supply.isAsking() || !copier.obstacle().isEmpty()) {
      return;
    }
    Set<Integer> avoided = watch.avoided(0, machine.slabs().servers());
    List<Slab> sparse =
        machine.slabs().all().stream()
            .filter(each -> isSparse(each, avoided))
            .sorted(Comparator.comparingLong(each -> machine.slabs().usedBytesOf(each.getId())))
            .toList();
    List<Slab> useful =
        sparse.stream().filter(each -> isUseful(each, sparse)).limit(LOOK_MAX).toList();
    for (Slab each : useful) {
      if (mayMove(each)) {
        begin(each);
        return;
      }
    }
  }

  /** Whether the other slabs of its kind have more room than is used of {@code slab}. */
  private boolean isSparse(Slab slab, Set<Integer> avoided) {
    long id = slab.getId();
    long elsewhere = machine.freeBytes(slab.getWanted(), avoided) - machine.slabs().freeBytesOf(id);
    return !slab.getClosed()
        && !resting.containsKey(id)
        && slab.getReplicasList().stream().noneMatch(each -> avoided.contains(each.getServer()))
        && elsewhere >= machine.slabs().usedBytesOf(id)
        && repair.isIntact(slab);
  }

  /** Whether room is lacking that there is when {@code slab}, and maybe some others, are gone. */
  private boolean isUseful(Slab slab, List<Slab> sparse) {
    return repair.wantsRoomOf(slab)
        || supply.shortages().stream().anyMatch(each -> isUseful(slab, each, sparse));
  }

  private boolean isUseful(Slab slab, Shortage shortage, List<Slab> sparse) {
    return slab.getWanted() != shortage.copies()
        && supply.isFull(shortage, slab)
        && supply.isEnough(
            shortage,
            sparse.stream().filter(each -> each.getWanted() != shortage.copies()).toList());
  }

  private boolean mayMove(Slab slab) {
    return !machine.isWrittenIn(slab.getId())
        && machine.extentsIn(slab.getId()).stream()
            .noneMatch(extent -> machine.moves().isOpen(extent.fileId()));
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
      if (machine.isUnused(slab) && repair.remove(now)) {
        emptied++;
        supply.forgetShortages();
        Facts.of("slab", slab).info(LOG, "a slab was emptied because its room is needed");
        end();
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

  private void move(GrantMove move) throws TakoException {
    BatchCopier.Begun begun = copier.begin(move, watch.avoided(0, machine.slabs().servers()));
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
    resting.put(slab, clock.nanoTime() + REST_NS);
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
