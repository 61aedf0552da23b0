package io.takofs.sim.slab;

import io.takofs.proto.Replica;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * One attempt to put a new replica in the place of another: the target pulls the committed cells
 * from the other replicas and compares them with the records.
 */
final class SlabRepair {
  /** A committed cell. */
  record Cell(int unit, int cell, long grant) {}

  private static final long STEP_MAX_NS = 2_000_000;
  private static final int FAILURES_MAX = 50;

  private final SlabGroup group;
  private final SlabCluster cluster;
  private final Slab slab;
  private final Set<Cell> copied = new HashSet<>();
  private final List<Cell> neededFirst;
  private int failures;
  final Replica leaving;
  final int targetServer;
  Replica target;
  private SimProcess process;

  SlabRepair(SlabGroup group, SlabCluster cluster, Slab slab, Replica leaving, int targetServer) {
    this.group = group;
    this.cluster = cluster;
    this.slab = slab;
    this.leaving = leaving;
    this.targetServer = targetServer;
    this.neededFirst = needed(slab);
  }

  static List<Cell> needed(Slab slab) {
    List<Cell> cells = new ArrayList<>();
    for (int unit = 0; unit < slab.units.length; unit++) {
      for (int cell = 0; cell < SlabUnit.CELLS; cell++) {
        if (slab.units[unit].cells[cell] != 0) {
          cells.add(new Cell(unit, cell, slab.units[unit].cells[cell]));
        }
      }
    }
    return cells;
  }

  /** The target has a slab: it begins to copy. */
  void begin(Replica newTarget) {
    target = newTarget;
    SimDataServer server = cluster.server(targetServer);
    process = server == null ? null : server.process();
    next();
  }

  /** Whether the server that copies is not the one any more that began. */
  boolean isLost() {
    SimDataServer server = cluster.server(targetServer);
    return server == null || !server.isAlive() || (process != null && process != server.process());
  }

  private void next() {
    SimDataServer server = cluster.server(targetServer);
    if (slab.repair != this) {
      return;
    }
    if (isLost() || failures > FAILURES_MAX) {
      group.abort(slab);
      return;
    }
    List<Cell> needed = group.isWeak(Weakness.COPY_OPEN) ? neededFirst : needed(slab);
    Cell cell = needed.stream().filter(each -> !copied.contains(each)).findFirst().orElse(null);
    SimScheduler scheduler = cluster.scheduler();
    if (cell == null) {
      group.finish(slab);
      return;
    }
    Random random = scheduler.random();
    Replica source = slab.replicas.get(random.nextInt(slab.replicas.size()));
    SimDataServer from = cluster.server(source.getServer());
    if (from == null
        || !from.isAlive()
        || cluster.network().links().isCut(from.process(), server.process())) {
      failures++;
      scheduler.schedule(server.process(), STEP_MAX_NS, this::next);
      return;
    }
    byte[] bytes = new byte[SlabUnit.CELL_BYTES];
    int at = SlabBytes.offset(cell.unit, cell.cell);
    from.arena(source.getArena()).get(at, bytes);
    scheduler.schedule(
        server.process(), scheduler.delayNs(0, STEP_MAX_NS), () -> land(cell, at, bytes));
  }

  private void land(Cell cell, int at, byte[] bytes) {
    if (slab.repair != this) {
      return;
    }
    SimDataServer server = cluster.server(targetServer);
    if (server == null) {
      return;
    }
    server.arena(target.getArena()).put(at, bytes);
    boolean right =
        SlabBytes.mismatch(server.arena(target.getArena()), at, cell.grant, cell.cell) < 0;
    if (right || group.isWeak(Weakness.NO_VERIFY)) {
      copied.add(cell);
    } else {
      failures++;
    }
    next();
  }
}
