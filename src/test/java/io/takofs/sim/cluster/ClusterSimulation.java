package io.takofs.sim.cluster;

import io.takofs.client.SimClients;
import io.takofs.client.TakoClient;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.Status;
import io.takofs.sim.Fault;
import io.takofs.sim.Faults;
import io.takofs.sim.SimClock;
import io.takofs.sim.SimConditions;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimMachine;
import io.takofs.sim.SimMap;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.sim.Swarm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One data server and several users, with everything that can happen to them, in one thread from
 * one seed.
 */
final class ClusterSimulation {
  private static final int USERS = 3;

  /** The smaller ones run full now and then. */
  private static final long[] DATA_BYTES = {3 << 20, 5 << 20, 24 << 20};

  static final int FOLLOWER_UNITS = 64;
  private static final int FOLLOWER_ARENA_BYTES = FOLLOWER_UNITS * Layout.UNIT_SIZE;

  /** Steps between two looks at the bytes of one extent; records are looked at after each. */
  private static final int STEPS_PER_EXTENT = 20;

  private static final long LIMIT_NS = TimeUnit.HOURS.toNanos(2);
  private static final long REPAIR_NS = TimeUnit.MINUTES.toNanos(30);
  private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long SLABS_NS = TimeUnit.MINUTES.toNanos(5);
  private static final long AFTERMATH_NS = TimeUnit.SECONDS.toNanos(30);

  private final long seed;
  private final int stepsPerUser;
  private final int others;
  private final SimServer.Commits commits;
  private final List<SimDataServer> followers = new ArrayList<>();
  private final SimMap map;
  private WeakServers servers = new WeakServers(WeakServers.Weakness.NONE);
  private final long dataBytes;
  private final boolean windows; // memory windows at all servers
  private final SimClients clients;
  private final SimScheduler scheduler;
  private final SimNetwork network;
  private final Swarm swarm;
  private final List<SimUser> users = new ArrayList<>();
  private long steps;
  private AssertionError violation;

  /**
   * @param clients how users reach the server
   */
  ClusterSimulation(long seed, int stepsPerUser, SimClients clients) {
    this(seed, stepsPerUser, clients, 0, SimServer.Commits.AT_ONCE);
  }

  /**
   * @param clients how users reach the servers
   * @param others servers beside the one that leads
   * @param commits of that one's log
   */
  ClusterSimulation(
      long seed, int stepsPerUser, SimClients clients, int others, SimServer.Commits commits) {
    this.seed = seed;
    this.commits = commits;
    this.others = others;
    this.map = new SimMap(1 + others);
    this.clients = clients;
    this.stepsPerUser = stepsPerUser;
    this.scheduler = new SimScheduler(seed);
    this.swarm = new Swarm(scheduler.random());
    this.dataBytes = DATA_BYTES[scheduler.random().nextInt(DATA_BYTES.length)];
    this.windows = scheduler.random().nextBoolean();
    this.network =
        new SimNetwork(
            scheduler, new SimConditions(500, 20_000, 0.02, 1_000_000, 0.005, 0.7, windows));
  }

  /**
   * Runs one seed and prints what came of it.
   *
   * @param args the seed; steps a user; servers beside the leader; when entries are committed
   */
  public static void main(String[] args) {
    long seed = Long.parseLong(args[0]);
    int steps = Integer.parseInt(args[1]);
    int others = Integer.parseInt(args[2]);
    SimServer.Commits commits = SimServer.Commits.valueOf(args[3]);
    System.out.println(
        new ClusterSimulation(seed, steps, SimClients.real(), others, commits).run());
  }

  /** The servers break a rule. */
  ClusterSimulation weakened(WeakServers.Weakness weakness) {
    servers = new WeakServers(weakness);
    return this;
  }

  /** The outcome of a run, and a number that differs when anything happened differently. */
  record Result(
      int steps,
      int copies,
      int moved,
      boolean windows,
      long bytesAtOthers,
      int mostOutstanding,
      Map<Fault, Integer> faults,
      Map<Status, Integer> failures,
      long virtualNs,
      long trace) {}

  /** Runs; fails with an AssertionError that names the seed. */
  Result run() {
    try (SimServer server =
        new SimServer(network, map, dataBytes, !swarm.has(Fault.CLOCK_JUMP), commits)) {
      server.reach(servers);
      addFollowers(server);
      check(server.start(), "the first start was killed");
      List<SimMachine> machines = machines(server);
      scheduler.check(1, () -> check(() -> checkStep(server, machines)));
      network.watch(
          (arena, offset, length, client) ->
              check(() -> server.checkStore(arena, offset, length, client)));
      SimWorld world = new SimWorld(network, clients, config(), server, new SharedNames(), swarm);
      for (int i = 0; i < USERS; i++) {
        SimUser user = new SimUser(world, users, "user" + i, stepsPerUser);
        users.add(user);
        user.start();
      }
      Faults faults = new Faults(network, swarm, machines, users);
      faults.begin();
      scheduler.await(LIMIT_NS, () -> users.stream().allMatch(SimUser::isDone));
      check(users.stream().allMatch(SimUser::isDone), "not finished in two hours: " + users);
      faults.end();
      finish(server, world);
      Map<Status, Integer> failures = new EnumMap<>(Status.class);
      users.forEach(
          user -> user.failures().forEach((why, n) -> failures.merge(why, n, Integer::sum)));
      int userSteps = users.stream().mapToInt(SimUser::steps).sum();
      int copies = world.config().get(ConfigKeys.REPLICATION);
      long bytesAtOthers = followers.stream().mapToLong(SimDataServer::bytesWritten).sum();
      return new Result(
          userSteps,
          copies,
          servers.moved(),
          windows,
          bytesAtOthers,
          server.mostOutstanding(),
          faults.counts(),
          failures,
          scheduler.nowNs(),
          scheduler.trace().hash());
    } catch (AssertionError | IOException | RuntimeException e) {
      Throwable first = violation == null ? e : violation;
      throw new AssertionError("seed " + seed + " with " + swarm + ": " + first, first);
    } finally {
      followers.forEach(SimDataServer::close);
    }
  }

  private void addFollowers(SimServer server) throws IOException {
    for (int id = 2; id <= 1 + others; id++) {
      SimDataServer follower = new SimDataServer(network, swarm, map, id, FOLLOWER_ARENA_BYTES);
      followers.add(follower);
      follower.letFlip((arena, offset) -> server.mayFlip(follower.id(), arena, offset));
      follower.setMayLosePool(() -> server.canSpare(follower.id()));
    }
    server.lead(followers);
    for (SimDataServer follower : followers) {
      check(follower.start(), "the first start was killed");
    }
  }

  private List<SimMachine> machines(SimServer server) {
    List<SimMachine> machines = new ArrayList<>(followers);
    machines.add(server);
    return machines;
  }

  /** As many copies of each file as chance says, and there can be. */
  private TakoConfig config() throws IOException {
    return new TakoConfig().set(ConfigKeys.REPLICATION, 1 + scheduler.random().nextInt(1 + others));
  }

  /**
   * Fate rests: what has an intact copy must be there, soon in all of its copies, and after it was
   * deleted nothing.
   */
  private void finish(SimServer server, SimWorld world) throws IOException {
    network.setConditions(SimConditions.CALM);
    for (SimMachine machine : machines(server)) {
      if (!machine.isAlive()) {
        check(machine.start(), "killed by nobody");
      }
    }
    for (SimUser user : users) {
      user.deleteAllDamaged(); // a slab with bytes that no copy has cannot be repaired
    }
    int damaged = users.stream().mapToInt(SimUser::damagedFiles).sum();
    int flips = machines(server).stream().mapToInt(machine -> machine.flips().count()).sum();
    check(damaged <= flips, damaged + " files damaged by " + flips + " bits");
    awaitRepair(server);
    for (SimUser user : users) {
      user.checkAll();
    }
    SimProcess process = new SimProcess("auditor");
    TakoClient auditor = world.connect(process, new SimClock(scheduler, process), new AtomicLong());
    auditor.mkdirs("/shared"); // nobody may have created a name there
    auditor.delete("/shared", true);
    for (SimUser user : users) {
      user.process().kill();
    }
    scheduler.pass(AFTERMATH_NS);
    if (auditor.usage().used() != 0) {
      throw new AssertionError(
          "extents leaked: " + auditor.usage() + "\n" + auditor.administration().clusterStatus());
    }
    check(server.filesToMove() == 0, "files that are gone are still to be moved");
    awaitNoSlabLost(server, auditor);
    auditor.close();
  }

  /** I25, I26: every copy of every committed extent is there, and has the right bytes. */
  private void awaitRepair(SimServer server) {
    long endNs = scheduler.nowNs() + REPAIR_NS;
    String lacking = server.lacking();
    while (!lacking.isEmpty()) {
      check(scheduler.nowNs() < endNs, "not repaired in half an hour: " + lacking);
      scheduler.pass(LOOK_NS);
      lacking = server.lacking();
      if (violation != null) {
        throw violation;
      }
    }
  }

  /** Servers have handed out the slabs that the group has in its records, or ready for them. */
  private void awaitNoSlabLost(SimServer server, TakoClient auditor) throws IOException {
    long endNs = scheduler.nowNs() + SLABS_NS;
    String lost = lostSlabs(server, auditor);
    while (!lost.isEmpty()) {
      check(scheduler.nowNs() < endNs, "slabs are lost: " + lost);
      scheduler.pass(LOOK_NS);
      lost = lostSlabs(server, auditor);
    }
  }

  private String lostSlabs(SimServer server, TakoClient auditor) throws IOException {
    ServerStatus leader = auditor.serverStatus();
    StringBuilder lost = new StringBuilder();
    for (SimMachine machine : machines(server)) {
      int handedOut = machine.slabsHandedOut();
      long replicas = server.replicasAt(machine.id());
      long spare = leader.getCountersOrDefault("slabs.spare." + machine.id(), 0);
      if (handedOut != replicas + spare) {
        lost.append(
            "server %d has handed out %d slabs, of which %d are in slabs of the group and %d spare; "
                .formatted(machine.id(), handedOut, replicas, spare));
      }
    }
    return lost.toString();
  }

  private void checkStep(SimServer server, List<SimMachine> machines) {
    machines.forEach(SimMachine::checkSound);
    server.checkRecords();
    if (++steps % STEPS_PER_EXTENT == 0) {
      server.checkBytes();
    }
  }

  /** A process may survive what is thrown in it, so that it is thrown again at the end. */
  private void check(Runnable rule) {
    try {
      rule.run();
    } catch (AssertionError e) {
      violation = violation == null ? e : violation;
      throw e;
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
