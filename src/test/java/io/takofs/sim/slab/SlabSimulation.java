package io.takofs.sim.slab;

import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import io.takofs.sim.Fault;
import io.takofs.sim.Faults;
import io.takofs.sim.SimCalls;
import io.takofs.sim.SimConditions;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimMap;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.sim.Swarm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Servers that keep slabs for a group, and writers of its extents, with everything that can happen
 * to them: the data zones, the connections and the writes are real, the group and the writers have
 * the rules of the model of slabs.
 */
final class SlabSimulation {
  private static final int SERVERS = 4;
  private static final int SLABS = 2;
  private static final int[] COPIES = {1, 2, 2, 3};
  private static final int WRITERS = 3;

  /** Steps between two comparisons of all bytes and leases; records are looked at after each. */
  private static final int BYTES_INTERVAL = 10;

  private static final long LIMIT_NS = TimeUnit.HOURS.toNanos(2);
  private static final long HEAL_NS = TimeUnit.MINUTES.toNanos(10);

  private final long seed;
  private final int steps;
  private final Set<Weakness> weak;
  private final SimScheduler scheduler;
  private final SimNetwork network;
  private final Swarm swarm;
  private final int copies;
  private final boolean mayBreak; // connections of the leader
  private final SimProcess leader = new SimProcess("leader");
  private final List<SimDataServer> servers = new ArrayList<>();
  private final List<SlabWriter> writers = new ArrayList<>();
  private final SlabCluster cluster;
  private SlabGroup group;
  private final SlabRules rules;
  private int events;
  private int checks;

  SlabSimulation(long seed, int steps, Set<Weakness> weak) {
    this.seed = seed;
    this.steps = steps;
    this.weak = weak;
    this.scheduler = new SimScheduler(seed);
    this.swarm = new Swarm(scheduler.random());
    this.copies = COPIES[scheduler.random().nextInt(COPIES.length)];
    this.mayBreak = scheduler.random().nextBoolean();
    this.network =
        new SimNetwork(
            scheduler, new SimConditions(500, 20_000, 0.02, 1_000_000, 0.002, 0.7, false));
    this.cluster = new SlabCluster(network, swarm, servers, seed % 2 != 0);
    this.rules = new SlabRules(cluster);
  }

  /**
   * Runs one seed and prints what came of it.
   *
   * @param args the seed; steps a writer
   */
  public static void main(String[] args) {
    long seed = Long.parseLong(args[0]);
    int steps = Integer.parseInt(args[1]);
    System.out.println(new SlabSimulation(seed, steps, Set.of()).run());
  }

  /** The outcome of a run, and a number that differs when anything happened differently. */
  record Result(
      int copies,
      int commits,
      int checks,
      Map<Fault, Integer> faults,
      long virtualNs,
      long trace) {}

  /** Runs; fails with an AssertionError that names the seed. */
  Result run() {
    try {
      return simulate();
    } catch (AssertionError | IOException | RuntimeException e) {
      throw new AssertionError("seed " + seed + " with " + swarm + ": " + e, e);
    } finally {
      servers.forEach(SimDataServer::close);
    }
  }

  private Result simulate() throws IOException {
    SimMap map = new SimMap(SERVERS);
    for (int i = 1; i <= SERVERS; i++) {
      SimDataServer server = new SimDataServer(network, swarm, map, i);
      servers.add(server);
      server.setMayLosePool(() -> mayLose(server));
      weaken(server);
      check(server.start(), "the first start was killed");
    }
    if (copies > 1) {
      servers.get(0).letFlip((arena, offset) -> true);
    }
    BrokenCalls broken = new BrokenCalls(scheduler, leader, new SimCalls(network, leader, servers));
    if (!mayBreak) {
      broken.heal();
    }
    DataServers calls = broken;
    if (weak.contains(Weakness.RETURN_UNNAMED)) {
      calls = new ForgetfulReturns(calls);
    }
    group = new SlabGroup(cluster, leader, calls, copies, SLABS, weak);
    group.begin();
    for (int i = 0; i < WRITERS; i++) {
      SlabWriter writer = new SlabWriter(cluster, group, leader, "writer" + i, steps);
      writers.add(writer);
      writer.start();
    }
    scheduler.check(1, this::checkStep);
    network.watch(
        (arena, offset, length, client) -> rules.checkStore(group.slabs(), arena, offset, client));
    Faults faults = new Faults(network, swarm, servers, writers);
    faults.disturb(leader);
    faults.begin();
    scheduler.await(LIMIT_NS, () -> writers.stream().allMatch(SlabWriter::isDone));
    check(writers.stream().allMatch(SlabWriter::isDone), "not finished in two hours");
    faults.end();
    broken.heal();
    finish();
    int commits = writers.stream().mapToInt(SlabWriter::commits).sum();
    return new Result(
        copies, commits, checks, faults.counts(), scheduler.nowNs(), scheduler.trace().hash());
  }

  private void weaken(SimDataServer server) {
    for (Weakness weakness : weak) {
      switch (weakness) {
        case READER_FORGOT -> server.forgetReaders();
        case FENCE_FORGOT -> server.forgetFences();
        case LEASE_REUSED -> server.forgetLeases();
        case DROP_LATE -> server.misunderstand(this::returnOfPresentLease);
        case RETURN_UNFENCED ->
            server.misunderstand((one, request) -> ForgetfulReturns.forget(request));
        default -> {} // another breaks it
      }
    }
  }

  /** The request to return what is leased now where it asks for the return of earlier leases. */
  private Request returnOfPresentLease(SimDataServer server, Request request) {
    if (!request.hasReturnSlabs() || request.getReturnSlabs().getSlabsCount() == 0) {
      return request;
    }
    Request.Builder late = request.toBuilder();
    for (LeasedSlab held : server.handle(SlabSpace.LIST).getHeldSlabs().getSlabsList()) {
      late.getReturnSlabsBuilder().getSlabsBuilderList().stream()
          .filter(each -> each.getArena() == held.getArena() && each.getIndex() == held.getIndex())
          .forEach(each -> each.setLease(held.getLease()));
    }
    return late.build();
  }

  /** Whether a member more may lose its memory: fewer than all copies of a slab. */
  private boolean mayLose(SimDataServer server) {
    if (swarm.has(Fault.FLIP_BIT)) {
      return false;
    }
    List<Slab> touched = new ArrayList<>();
    for (Slab slab : group.slabs()) {
      if (slab.isAt(server.id())) {
        touched.add(slab);
        if (slab.losses + 1 >= slab.wanted) {
          return false;
        }
      }
    }
    touched.forEach(slab -> slab.losses++);
    return true;
  }

  // ---- invariants -------------------------------------------------------------------------------

  private void checkStep() {
    rules.check(group.slabs());
    if (++events % BYTES_INTERVAL == 0) {
      checkBytes();
    }
  }

  /** Committed bytes are the same on every replica whose memory lives. */
  private void checkBytes() {
    checks++;
    for (Slab slab : group.slabs()) {
      int intact = 0;
      for (Replica replica : slab.replicas) {
        SimDataServer server = cluster.server(replica.getServer());
        if (server != null) {
          intact++;
          rules.checkLease(slab, replica, server);
          checkReplica(slab, replica, server);
        }
      }
      check(intact > 0, "no copy of slab " + slab.id + " is left");
    }
  }

  private static void checkReplica(Slab slab, Replica replica, SimDataServer server) {
    for (int unit = 0; unit < slab.units.length; unit++) {
      long[] cells = slab.units[unit].cells;
      for (int cell = 0; cell < SlabUnit.CELLS; cell++) {
        int at = SlabBytes.offset(unit, cell);
        if (cells[cell] != 0
            && SlabBytes.mismatch(server.arena(replica.getArena()), at, cells[cell], cell) >= 0
            && !server.flips().areIn(replica.getArena(), at, SlabUnit.CELL_BYTES)) {
          throw new AssertionError(
              "cell %d of unit %d of slab %d (version %d) has other bytes than grant %d committed at server %d (arena %d, lease %d): those of %x"
                  .formatted(
                      cell,
                      unit,
                      slab.id,
                      slab.version,
                      cells[cell],
                      server.id(),
                      replica.getArena(),
                      replica.getLease(),
                      SlabBytes.writer(
                          server.arena(replica.getArena()),
                          at,
                          cell,
                          SlabBytes.mismatch(
                              server.arena(replica.getArena()), at, cells[cell], cell))));
        }
      }
    }
  }

  // ---- the end ----------------------------------------------------------------------------------

  /**
   * Nothing strikes any more: all copies come back, and after deleting everything no slab is lent.
   */
  private void finish() throws IOException {
    network.setConditions(SimConditions.CALM);
    for (SimDataServer server : servers) {
      if (!server.isAlive()) {
        check(server.start(), "killed by nobody");
      }
    }
    group.calmDown();
    scheduler.await(HEAL_NS, group::isWhole);
    check(group.isWhole(), "a slab has not all its copies");
    checkBytes();
    group.dissolve();
    writers.forEach(writer -> writer.process().kill());
    scheduler.await(HEAL_NS, () -> group.isDissolved() && servers.stream().allMatch(this::isEmpty));
    check(group.isDissolved(), "a slab is left");
    for (SimDataServer server : servers) {
      check(isEmpty(server), "server " + server.id() + " has slabs that nobody knows");
    }
  }

  private boolean isEmpty(SimDataServer server) {
    Request request =
        Request.newBuilder()
            .setReturnSlabs(ReturnSlabs.newBuilder().setLeader(SlabSpace.LEADER))
            .build();
    Reply freed = server.handle(request);
    check(freed.getStatus() == Status.OK, freed.getMessage());
    return server.handle(SlabSpace.LIST).getHeldSlabs().getUsage().getUsed() == 0;
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
