package io.takofs.sim.slab;

import io.takofs.proto.FenceExtents;
import io.takofs.proto.FencedExtent;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.extent.Location;
import io.takofs.server.peer.DataServers;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimProcess;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The group of the model of slabs: its state changes in single steps and outlives everything, and
 * what it does with data servers are the real messages. It stands for the group of a leader, whose
 * rules it has in their simplest form.
 */
final class SlabGroup {
  private static final long TICK_NS = 5_000_000;

  private final SlabCluster cluster;
  private final Random random;
  private final DataServers calls;
  private final SimProcess process;
  private final Set<Weakness> weak;
  private final int copies;
  private final int slabsWanted;
  private final Map<Long, Slab> slabs = new TreeMap<>();
  private final SlabSpace space;
  private final Set<Integer> silent = new HashSet<>(); // servers that did not answer last
  private Slab forming;
  private long lastIndex;
  private long lastClient;
  private boolean calm;
  private boolean dissolving;

  /** What a writer may write. */
  record Grant(
      Slab slab,
      int unit,
      long number,
      long generation,
      long client,
      int firstCell,
      List<Replica> at) {}

  SlabGroup(
      SlabCluster cluster,
      SimProcess process,
      DataServers calls,
      int copies,
      int slabsWanted,
      Set<Weakness> weak) {
    this.cluster = cluster;
    this.random = cluster.scheduler().random();
    this.process = process;
    this.calls = calls;
    this.space = new SlabSpace(cluster, calls, weak);
    this.copies = copies;
    this.slabsWanted = slabsWanted;
    this.weak = weak;
  }

  boolean isWeak(Weakness weakness) {
    return weak.contains(weakness);
  }

  /** An id that no client ever had. */
  long newClient() {
    return ++lastClient;
  }

  Iterable<Slab> slabs() {
    return slabs.values();
  }

  void begin() {
    cluster.scheduler().schedule(process, TICK_NS, this::tick);
  }

  /** Nothing is suspected or moved without need any more. */
  void calmDown() {
    calm = true;
  }

  /** Deletes everything, and returns all slabs. */
  void dissolve() {
    dissolving = true;
  }

  boolean isWhole() {
    return forming == null
        && slabs.values().stream()
            .allMatch(
                slab ->
                    slab.open
                        && slab.repair == null
                        && slab.replicas.size() == slab.wanted
                        && lostMember(slab) == null);
  }

  boolean isDissolved() {
    return slabs.isEmpty() && space.returning().isEmpty();
  }

  // ---- grants -----------------------------------------------------------------------------------

  /** A grant in any slab with room; null when there is none. */
  Grant grant(long client) {
    List<Slab> open =
        slabs.values().stream().filter(slab -> slab.open || isWeak(Weakness.GRANT_OPEN)).toList();
    if (open.isEmpty() || dissolving) {
      return null;
    }
    Slab slab = open.get(random.nextInt(open.size()));
    int count = slab.units.length - Slab.firstUnit();
    int first = random.nextInt(count);
    for (int i = 0; i < count; i++) {
      int at = Slab.firstUnit() + (first + i) % count;
      SlabUnit unit = slab.units[at];
      if (unit.use == SlabUnit.Use.FREE || isAppendable(unit)) {
        unit.give(++lastIndex, client);
        slab.grantees.add(client);
        return new Grant(
            slab,
            at,
            lastIndex,
            unit.generation,
            client,
            unit.committed(),
            List.copyOf(slab.replicas));
      }
    }
    return null;
  }

  private boolean isAppendable(SlabUnit unit) {
    return isWeak(Weakness.APPEND_UNFENCED) ? unit.isAppendableUnfenced() : unit.isAppendable();
  }

  /** The number that a fence of {@code grant} names. */
  long fenceOf(Grant grant) {
    return isWeak(Weakness.FENCE_BY_GENERATION) ? grant.generation : grant.number;
  }

  boolean isLive(Grant grant) {
    SlabUnit unit = grant.slab.units[grant.unit];
    return unit.live && unit.grant == grant.number;
  }

  /** The cells up to {@code end} are everywhere; false when that came too late. */
  boolean commit(Grant grant, int end) {
    SlabUnit unit = grant.slab.units[grant.unit];
    boolean counts = isWeak(Weakness.STALE_COMMIT) && unit.use != SlabUnit.Use.FREE;
    if (!counts && !isLive(grant)) {
      return false;
    }
    if (isWeak(Weakness.SEAL_FORGOT) && !grant.slab.open) {
      return false;
    }
    for (int cell = grant.firstCell; cell < end; cell++) {
      unit.cells[cell] = grant.number;
    }
    unit.use = SlabUnit.Use.COMMITTED;
    return true;
  }

  /** The writer is done, and nothing of it is under way. */
  void leave(Grant grant) {
    SlabUnit unit = grant.slab.units[grant.unit];
    if (isLive(grant)) {
      unit.end();
      unit.settled = true;
    }
  }

  /** A replica failed the writer, or its lease is over. */
  void end(Grant grant) {
    if (isLive(grant)) {
      grant.slab.units[grant.unit].end();
    }
  }

  // ---- what is due ------------------------------------------------------------------------------

  private void tick() {
    for (Slab slab : List.copyOf(slabs.values())) {
      if (dissolving) {
        forEach(slab, SlabUnit.Use.COMMITTED, SlabUnit::delete);
        forEach(slab, SlabUnit.Use.GRANTED, SlabUnit::end);
      } else if (!calm) {
        disturb(slab);
      }
      mend(slab);
      for (int unit = Slab.firstUnit(); unit < slab.units.length; unit++) {
        fence(slab, unit);
      }
      if (dissolving && slab.isEmpty() && slab.repair == null) {
        slabs.remove(slab.id);
        slab.replicas.forEach(replica -> space.giveBack(replica, slab.grantees));
        slab.former.forEach(replica -> space.giveBack(replica, slab.grantees));
      }
    }
    form();
    space.sendBack();
    space.reconcile(this::known);
    cluster.scheduler().schedule(process, TICK_NS, this::tick);
  }

  private static void forEach(Slab slab, SlabUnit.Use use, Consumer<SlabUnit> action) {
    for (SlabUnit unit : slab.units) {
      if (unit.use == use) {
        action.accept(unit);
      }
    }
  }

  /** Ends leases, deletes, suspects and moves, for no reason. */
  private void disturb(Slab slab) {
    SlabUnit unit = slab.units[random.nextInt(slab.units.length)];
    if (random.nextInt(10) == 0) {
      unit.end();
    }
    if (random.nextInt(20) == 0 && unit.use == SlabUnit.Use.COMMITTED) {
      if (isWeak(Weakness.OLD_ANSWER)) {
        unit.deleteKeepingAnswers();
      } else {
        unit.delete();
      }
    }
    if (random.nextInt(100) == 0) {
      seal(slab);
    }
    if (isWeak(Weakness.SHRINK) && random.nextInt(100) == 0 && slab.replicas.size() > 1) {
      space.giveBack(slab.replicas.remove(random.nextInt(slab.replicas.size())), slab.grantees);
      slab.version++;
    }
    if (isWeak(Weakness.STALE_RETURN) && random.nextInt(50) == 0 && slab.repair == null) {
      takeBackStale(slab);
    }
  }

  private void seal(Slab slab) {
    slab.open = false;
    if (!isWeak(Weakness.SEAL_FORGOT) && !isWeak(Weakness.REPAIR_OPEN)) {
      for (SlabUnit unit : slab.units) {
        unit.end();
      }
    }
  }

  private void takeBackStale(Slab slab) {
    for (Replica former : space.returning()) {
      SimDataServer server = cluster.server(former.getServer());
      if (server != null && !slab.isAt(former.getServer()) && former.getLease() > 0) {
        space.keep(former);
        space.giveBack(slab.replicas.set(0, former), slab.grantees);
        slab.version++;
        return;
      }
    }
  }

  // ---- replicas ---------------------------------------------------------------------------------

  private Replica lostMember(Slab slab) {
    return slab.replicas.stream()
        .filter(replica -> cluster.server(replica.getServer()) == null)
        .findFirst()
        .orElse(null);
  }

  private Replica silentMember(Slab slab) {
    return slab.replicas.stream()
        .filter(replica -> silent.contains(replica.getServer()))
        .findFirst()
        .orElse(null);
  }

  private void mend(Slab slab) {
    if (slab.repair != null) {
      if (slab.repair.isLost()) {
        abort(slab);
      }
      return;
    }
    Replica lost = lostMember(slab);
    if (lost == null && !calm && random.nextInt(5) == 0) {
      lost = silentMember(slab);
    }
    if (lost == null && slab.open && (calm || random.nextInt(100) != 0)) {
      return;
    }
    if (lost == null && !slab.open && (calm || random.nextInt(10) == 0)) {
      slab.open = true;
      return;
    }
    if (lost == null && (dissolving || random.nextInt(10) != 0)) {
      return;
    }
    List<SimDataServer> targets =
        cluster.servers().stream()
            .filter(server -> server.isAlive() && !slab.isAt(server.id()))
            .toList();
    if (targets.isEmpty()) {
      return;
    }
    if (!isWeak(Weakness.COPY_OPEN)) {
      seal(slab);
    }
    Replica leaving = lost != null ? lost : slab.replicas.get(random.nextInt(slab.replicas.size()));
    int target = targets.get(random.nextInt(targets.size())).id();
    SlabRepair repair = new SlabRepair(this, cluster, slab, leaving, target);
    slab.repair = repair;
    Replica former =
        slab.former.stream().filter(each -> each.getServer() == target).findAny().orElse(null);
    if (former != null) {
      slab.former.remove(former);
      repair.begin(former);
      return;
    }
    space.lease(
        target,
        leased -> {
          Replica joining = Slab.replica(target, leased);
          if (slab.repair == repair) {
            repair.begin(joining);
          } else {
            space.giveBack(joining, Set.of());
          }
        },
        () -> {
          if (slab.repair == repair) {
            slab.repair = null;
          }
        });
  }

  void abort(Slab slab) {
    SlabRepair repair = slab.repair;
    slab.repair = null;
    if (repair.target != null) {
      space.giveBack(repair.target, Set.of());
    }
  }

  /** Everything is copied: one replica replaces another. */
  void finish(Slab slab) {
    SlabRepair repair = slab.repair;
    slab.repair = null;
    slab.version++;
    slab.replicas.set(slab.replicas.indexOf(repair.leaving), repair.target);
    if (lostMember(slab) == null) {
      slab.losses = 0;
    }
    for (SlabUnit unit : slab.units) {
      if (unit.isClosing()) {
        unit.asked.remove(repair.target);
      }
    }
    if (isWeak(Weakness.NO_JOIN_FENCE)) {
      slab.former.add(repair.leaving);
    } else {
      space.giveBack(repair.leaving, slab.grantees);
    }
  }

  /** All places that are the group's, or will be. */
  private Set<Replica> known() {
    Set<Replica> known = new HashSet<>();
    if (forming != null) {
      known.addAll(forming.replicas);
    }
    for (Slab slab : slabs.values()) {
      known.addAll(slab.replicas);
      known.addAll(slab.former);
      if (slab.repair != null && slab.repair.target != null) {
        known.add(slab.repair.target);
      }
    }
    return known;
  }

  private void form() {
    if (forming != null || dissolving || slabs.size() >= slabsWanted) {
      return;
    }
    List<SimDataServer> alive =
        new ArrayList<>(cluster.servers().stream().filter(SimDataServer::isAlive).toList());
    if (alive.size() < copies) {
      return;
    }
    Slab next = new Slab(++lastIndex, List.of());
    forming = next;
    List<Replica> got = next.replicas;
    int[] left = {copies};
    for (int i = 0; i < copies; i++) {
      int server = alive.remove(random.nextInt(alive.size())).id();
      space.lease(
          server,
          leased -> {
            got.add(Slab.replica(server, leased));
            formed(next, got, --left[0]);
          },
          () -> formed(next, got, --left[0]));
    }
  }

  private void formed(Slab next, List<Replica> got, int left) {
    if (left > 0) {
      return;
    }
    forming = null;
    boolean whole = got.stream().allMatch(each -> cluster.server(each.getServer()) != null);
    if (got.size() == copies && whole && !dissolving) {
      slabs.put(next.id, new Slab(next.id, got));
    } else {
      got.forEach(each -> space.giveBack(each, Set.of()));
    }
  }

  // ---- fences ----------------------------------------------------------------------------------

  private void fence(Slab slab, int number) {
    SlabUnit unit = slab.units[number];
    if (!unit.isClosing()) {
      return;
    }
    if (isWeak(Weakness.NO_FENCE)) {
      unit.close();
      return;
    }
    int round = unit.round;
    for (Replica replica : slab.replicas) {
      if (unit.fenced.contains(replica) || !unit.asked.add(replica)) {
        continue;
      }
      Location at = Slab.location(replica, number);
      FencedExtent extent =
          FencedExtent.newBuilder()
              .setArena(at.arena())
              .setOffset(at.offset())
              .setCapacity(at.capacity())
              .setLease(replica.getLease())
              .setGrantee(unit.settled ? 0 : unit.client)
              .setGrant(fenceOf(unit))
              .setForce(true)
              .build();
      Request request =
          Request.newBuilder()
              .setFenceExtents(
                  FenceExtents.newBuilder().setLeader(SlabSpace.LEADER).addExtents(extent))
              .build();
      calls.call(
          replica.getServer(),
          request,
          reply -> {
            if (unit.round == round) {
              fenced(slab, unit, replica, reply);
            }
          });
    }
    if (isFenced(slab, unit)) {
      unit.close();
    }
  }

  private long fenceOf(SlabUnit unit) {
    if (!isWeak(Weakness.FENCE_BY_GENERATION)) {
      return unit.grant;
    }
    // A record that lives may be appended to: its generation must not be refused.
    return unit.use == SlabUnit.Use.COMMITTED ? unit.generation - 1 : unit.generation;
  }

  private boolean isFenced(Slab slab, SlabUnit unit) {
    return slab.replicas.stream()
        .allMatch(
            replica ->
                unit.fenced.contains(replica)
                    || (isWeak(Weakness.FENCE_LOST) && silent.contains(replica.getServer())));
  }

  private void fenced(Slab slab, SlabUnit unit, Replica replica, Reply reply) {
    unit.asked.remove(replica);
    if (reply.getStatus() == Status.UNAVAILABLE) {
      silent.add(replica.getServer());
    } else {
      silent.remove(replica.getServer());
    }
    if (reply.getStatus() == Status.OK && reply.getFencedExtents().getDoneCount() > 0) {
      unit.fenced.add(replica);
      if (isFenced(slab, unit) || isWeak(Weakness.FENCE_SOME)) {
        unit.close();
      }
    }
  }
}
