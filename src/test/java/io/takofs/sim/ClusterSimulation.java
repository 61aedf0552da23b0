package io.takofs.sim;

import io.takofs.client.SimClients;
import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One data server and several users, with everything that can happen to them, in one thread from
 * one seed.
 */
final class ClusterSimulation {
  private static final int USERS = 3;

  /** The smaller ones run full now and then. */
  private static final long[] DATA_BYTES = {3 << 20, 5 << 20, 24 << 20};

  private static final long LIMIT_NS = TimeUnit.HOURS.toNanos(2);
  private static final long EXPIRY_NS = TimeUnit.SECONDS.toNanos(3);
  private static final long AFTERMATH_NS = TimeUnit.SECONDS.toNanos(30);

  private final long seed;
  private final int stepsPerUser;
  private final long dataBytes;
  private final SimClients clients;
  private final SimScheduler scheduler;
  private final SimNetwork network;
  private final SimProcess fate = new SimProcess("fate");
  private final List<SimUser> users = new ArrayList<>();
  private int clientKills;
  private boolean over;

  /**
   * @param clients how users reach the server
   */
  ClusterSimulation(long seed, int stepsPerUser, SimClients clients) {
    this.seed = seed;
    this.clients = clients;
    this.stepsPerUser = stepsPerUser;
    this.scheduler = new SimScheduler(seed);
    this.dataBytes = DATA_BYTES[scheduler.random().nextInt(DATA_BYTES.length)];
    boolean windows = scheduler.random().nextBoolean();
    this.network =
        new SimNetwork(
            scheduler, new SimConditions(500, 20_000, 0.02, 1_000_000, 0.005, 0.7, windows));
  }

  /** The outcome of a run, and a number that differs when anything happened differently. */
  record Result(
      int steps, int serverKills, int clientKills, Map<Status, Integer> failures, long virtualNs) {}

  /** Runs; fails with an AssertionError that names the seed. */
  Result run() {
    try (SimServer server = new SimServer(network, dataBytes)) {
      check(server.start(), "the first start was killed");
      TakoConfig config = new TakoConfig();
      SharedNames shared = new SharedNames();
      for (int i = 0; i < USERS; i++) {
        SimUser user =
            new SimUser(network, clients, config, shared, users, "user" + i, stepsPerUser);
        users.add(user);
        user.start();
      }
      scheduleFate(server, 0);
      scheduler.await(LIMIT_NS, () -> users.stream().allMatch(SimUser::isDone));
      check(users.stream().allMatch(SimUser::isDone), "not finished in two hours: " + users);
      finish(server, config);
      Map<Status, Integer> failures = new EnumMap<>(Status.class);
      users.forEach(
          user -> user.failures().forEach((why, n) -> failures.merge(why, n, Integer::sum)));
      int steps = users.stream().mapToInt(SimUser::steps).sum();
      return new Result(steps, server.kills(), clientKills, failures, scheduler.nowNs());
    } catch (AssertionError | IOException | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e, e);
    }
  }

  private void scheduleFate(SimServer server, long pauseNs) {
    scheduler.schedule(
        fate,
        pauseNs
            + scheduler.delayNs(100_000, scheduler.random().nextBoolean() ? 2_000_000 : 60_000_000),
        () -> {
          if (!over) {
            boolean longPause = strike(server);
            scheduleFate(server, longPause ? EXPIRY_NS : 0);
          }
        });
  }

  /** Does harm; true when it should last until sessions without a connection are over. */
  private boolean strike(SimServer server) {
    if (!server.isAlive()) {
      restart(server);
      return false;
    }
    int choice = scheduler.random().nextInt(12);
    SimUser user = users.get(scheduler.random().nextInt(users.size()));
    if (choice < 2) {
      server.kill();
    } else if (choice < 5) {
      server.killAtLogStep(scheduler.random().nextInt(20));
    } else if (choice < 8) {
      network.breakOne();
    } else if (choice == 8 && !user.isDone()) {
      user.process().kill();
      user.start();
      clientKills++;
    } else if (choice == 9) {
      network.cutOff(user.process());
      return scheduler.random().nextInt(3) == 0;
    } else {
      network.heal();
    }
    return false;
  }

  private static void restart(SimServer server) {
    try {
      if (!server.start()) {
        return; // Killed while it recovered; fate will try again.
      }
    } catch (IOException e) {
      throw new AssertionError("the server does not start: " + e, e);
    }
  }

  /** Fate rests: everything must be there, and after deleting it nothing. */
  private void finish(SimServer server, TakoConfig config) throws IOException {
    over = true;
    network.heal();
    network.setConditions(SimConditions.CALM);
    server.killAtLogStep(-1);
    if (!server.isAlive()) {
      check(server.start(), "killed by nobody");
    }
    for (SimUser user : users) {
      user.checkAll();
    }
    SimProcess process = new SimProcess("auditor");
    TakoClient auditor =
        clients.create(
            network.attach(process),
            SimServer.ENDPOINT,
            config,
            "root",
            new SimClock(scheduler, process));
    auditor.delete("/shared", true);
    for (SimUser user : users) {
      user.process().kill();
    }
    scheduler.pass(AFTERMATH_NS);
    check(auditor.usage().used() == 0, "extents leaked: " + auditor.usage());
    auditor.close();
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
