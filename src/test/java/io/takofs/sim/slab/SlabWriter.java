package io.takofs.sim.slab;

import io.takofs.proto.Replica;
import io.takofs.sim.Fault;
import io.takofs.sim.SimActor;
import io.takofs.sim.SimClock;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimHolds;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimRegion;
import io.takofs.sim.SimTransport;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Writes extents to all their replicas at once, commits what is everywhere, and looks at committed
 * ones in place, in a process that anything may befall.
 */
final class SlabWriter extends SimActor {
  private static final long PAUSE_MAX_NS = 10_000_000;
  private static final long HOLD_MAX_NS = 300_000_000;

  /** One of so many rests of a writer is a long one. */
  private static final int LATE_IN = 8;

  private static final long LATE_NS = 2_000_000_000;

  /** How long a commit waits for its answer. */
  private static final long ANSWER_NS = 100_000_000;

  private final SlabCluster cluster;
  private final SlabGroup group;
  private final SimProcess leader;
  private final Random random;
  private final Map<Integer, SlabConnection> connections = new HashMap<>();

  /** Servers that let the writer write nothing under its present grant. */
  private final Set<Integer> refusing = new HashSet<>();

  private SimTransport transport;
  private MemoryRegion memory;
  private long client;
  private int commits;

  SlabWriter(SlabCluster cluster, SlabGroup group, SimProcess leader, String name, int steps) {
    super(cluster.scheduler(), name, PAUSE_MAX_NS, steps);
    this.cluster = cluster;
    this.group = group;
    this.leader = leader;
    this.random = new Random(scheduler().random().nextLong());
  }

  int commits() {
    return commits;
  }

  @Override
  protected SimClock newClock(SimProcess born) {
    return cluster.newClock(born);
  }

  @Override
  protected void begin() {
    transport = cluster.network().attach(process());
    try {
      memory =
          transport
              .allocateProtectionDomain()
              .allocate(SlabUnit.CELLS * SlabUnit.CELL_BYTES, Access.LOCAL);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    client = group.newClient();
    connections.clear();
  }

  @Override
  protected void act() {
    if (random.nextInt(5) == 0) {
      look();
    } else {
      write();
    }
  }

  /** Asks the group; null when no answer comes, though it may have done what it was asked. */
  private <T> T ask(Supplier<T> question) {
    List<T> answer = new ArrayList<>(1);
    SimNetwork network = cluster.network();
    SimProcess asking = process();
    network.schedule(
        network.latencyNs(asking, leader),
        () -> {
          if (!network.links().isCut(asking, leader)) {
            T value = question.get();
            network.schedule(
                network.latencyNs(leader, asking),
                () -> {
                  if (!network.links().isCut(leader, asking)) {
                    answer.add(value);
                  }
                });
          }
        });
    scheduler().await(ANSWER_NS, () -> !answer.isEmpty());
    asking.goOn(scheduler());
    return answer.isEmpty() ? null : answer.get(0);
  }

  // ---- writing ----------------------------------------------------------------------------------

  private void write() {
    long mine = client;
    SlabGroup.Grant grant = ask(() -> group.grant(mine));
    if (grant == null) {
      return;
    }
    countStep();
    try {
      writeUnder(grant);
    } catch (IOException e) {
      // A replica failed the writer, who tells; or nobody knows it and the lease will end.
      if (random.nextInt(4) != 0) {
        ask(
            () -> {
              group.end(grant);
              return true;
            });
      }
    }
  }

  private void writeUnder(SlabGroup.Grant grant) throws IOException {
    connectAll(grant);
    int cell = grant.firstCell();
    int committed = cell;
    while (cell < SlabUnit.CELLS) {
      int end = Math.min(SlabUnit.CELLS, cell + 1 + random.nextInt(2));
      store(grant, cell, end, grant.number());
      cell = end;
      if (random.nextInt(3) != 0) {
        commit(grant, cell);
        committed = cell;
      }
      if (group.isWeak(Weakness.REWRITE)) {
        store(grant, cell - 1, cell, -grant.number());
      }
      if (random.nextInt(6) == 0) {
        break;
      }
      if (random.nextInt(4) == 0) {
        rest(grant);
      }
      connectAll(grant);
    }
    if (committed < cell && random.nextBoolean()) {
      commit(grant, cell);
    }
    if (random.nextInt(3) != 0) {
      ask(
          () -> {
            group.leave(grant);
            return true;
          });
    }
  }

  /**
   * Does nothing for a while, now and then so long that the slab leaves a server meanwhile, or that
   * a server starts again and forgets the writer.
   */
  private void rest(SlabGroup.Grant grant) throws IOException {
    boolean late = random.nextInt(LATE_IN) == 0;
    pass(scheduler().delayNs(0, late ? LATE_NS : 2 * PAUSE_MAX_NS));
    if (late && cluster.windows() && cluster.swarm().has(Fault.KILL_SERVER)) {
      Replica replica = grant.at().get(random.nextInt(grant.at().size()));
      SimDataServer server = cluster.server(replica.getServer());
      if (server != null && server.isAlive()) {
        server.kill();
        server.start();
        pass(PAUSE_MAX_NS); // until the writer knows that its connection is over
      }
    }
  }

  private void pass(long durationNs) {
    SimProcess resting = process();
    scheduler().pass(durationNs);
    resting.goOn(scheduler());
  }

  private void commit(SlabGroup.Grant grant, int end) throws IOException {
    Boolean good = ask(() -> group.commit(grant, end));
    if (good == null || !good) {
      throw new IOException("not committed");
    }
    commits++;
  }

  /** Sees that all replicas can be written, and that the grant lives after that. */
  private void connectAll(SlabGroup.Grant grant) throws IOException {
    boolean fresh = false;
    refusing.clear();
    for (Replica replica : grant.at()) {
      SlabConnection known = connections.get(replica.getServer());
      if (known == null || !known.isOpen()) {
        if (known != null) {
          known.close();
          connections.remove(replica.getServer());
        }
        SimDataServer server = cluster.server(replica.getServer());
        if (server == null) {
          throw new IOException("the server is lost");
        }
        connections.put(
            replica.getServer(), SlabConnection.open(transport, memory, server, client, clock()));
        fresh = true;
        if (cluster.windows() && isRefused(grant, replica)) {
          refusing.add(replica.getServer());
        }
      }
    }
    if (fresh && !cluster.windows() && !group.isWeak(Weakness.PROVE_SKIPPED)) {
      Boolean lives = ask(() -> group.isLive(grant));
      if (lives == null || !lives) {
        throw new IOException("the grant is over");
      }
    }
  }

  private boolean isRefused(SlabGroup.Grant grant, Replica replica) throws IOException {
    SimDataServer server = cluster.server(replica.getServer());
    return server == null
        || !server.isAlive()
        || server.isFenced(
            Slab.location(replica, grant.unit()), replica.getLease(), group.fenceOf(grant));
  }

  /** Writes the {@code content} of cells to all replicas; returns when it is there. */
  private void store(SlabGroup.Grant grant, int from, int to, long content) throws IOException {
    for (int cell = from; cell < to; cell++) {
      SlabBytes.fill(((SimRegion) memory).memory(), cell * SlabUnit.CELL_BYTES, content, cell);
    }
    int enough = group.isWeak(Weakness.COMMIT_EARLY) ? 1 : grant.at().size();
    Set<SlabConnection> used = new LinkedHashSet<>();
    for (Replica replica : grant.at()) {
      if (refusing.contains(replica.getServer())) {
        continue; // each server decides for itself
      }
      SlabConnection connection = connections.get(replica.getServer());
      used.add(connection);
      for (int cell = from; cell < to && connection.isOpen(); cell++) {
        connection.write(
            cell * SlabUnit.CELL_BYTES,
            SlabUnit.CELL_BYTES,
            replica.getArena(),
            SlabBytes.offset(grant.unit(), cell));
      }
    }
    if (!refusing.isEmpty()) {
      throw new IOException("the grant is over");
    }
    for (SlabConnection connection : used) {
      connection.check();
    }
    while (true) {
      int done = 0;
      for (SlabConnection connection : used) {
        done += connection.isDone() ? 1 : 0;
      }
      if (done >= enough) {
        return;
      }
      clock().parkNanos(this, 50_000_000);
    }
  }

  // ---- looking ----------------------------------------------------------------------------------

  /** Holds an extent at a server of its host, and sees the same bytes as long as it does. */
  private void look() {
    for (Slab slab : group.slabs()) {
      int at = Slab.firstUnit() + random.nextInt(slab.units.length - Slab.firstUnit());
      SlabUnit unit = slab.units[at];
      Replica replica = slab.replicas.get(random.nextInt(slab.replicas.size()));
      SimDataServer server = cluster.server(replica.getServer());
      if (unit.use == SlabUnit.Use.COMMITTED && server != null && server.isAlive()) {
        hold(server, replica, at, unit.cells[0]);
        return;
      }
    }
  }

  private void hold(SimDataServer server, Replica replica, int unit, long grant) {
    SimHolds holds = server.holds();
    int id = server.id();
    if (group.isWeak(Weakness.READER_UNLOCKED)) {
      pass(scheduler().delayNs(0, HOLD_MAX_NS)); // between the answer and the lock
    }
    holds.hold(Slab.location(replica, unit));
    SimProcess holder = process();
    boolean[] over = {false};
    Runnable end =
        () -> {
          if (!over[0]) {
            over[0] = true;
            check(server, id, replica, unit, grant);
            holds.release(Slab.location(replica, unit));
          }
        };
    holder.atDeath(end);
    scheduler().schedule(holder, scheduler().delayNs(0, HOLD_MAX_NS), end);
  }

  private void check(SimDataServer server, int id, Replica replica, int unit, long grant) {
    if (server.id() == id
        && !server.flips().areIn(replica.getArena(), SlabBytes.offset(unit, 0), SlabUnit.CELL_BYTES)
        && SlabBytes.mismatch(server.arena(replica.getArena()), SlabBytes.offset(unit, 0), grant, 0)
            >= 0) {
      throw new AssertionError(
          "unit "
              + unit
              + " of arena "
              + replica.getArena()
              + " of server "
              + id
              + " was written while "
              + process().name()
              + " looked at it");
    }
  }
}
