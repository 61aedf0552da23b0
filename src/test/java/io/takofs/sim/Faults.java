package io.takofs.sim;

import io.takofs.base.Invariant;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Does harm to the servers and the clients of a cluster, now and then, until it is told to end. */
public final class Faults {
  /** Until sessions without a connection are over. */
  private static final long EXPIRY_NS = TimeUnit.SECONDS.toNanos(3);

  private static final long SLOW_LINK_MAX_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long SLOW_SERVER_MAX_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long[] PAUSE_MAX_NS = {50_000_000L, 2_500_000_000L, 15_000_000_000L};
  private static final long JUMP_MAX_MS = TimeUnit.HOURS.toMillis(2);
  private static final int PERSISTS_MAX = 20;

  private final SimNetwork network;
  private final SimScheduler scheduler;
  private final Random random;
  private final Swarm swarm;
  private final List<? extends SimMachine> servers;
  private final List<? extends SimActor> users;
  private final List<SimProcess> bystanders = new ArrayList<>();
  private final SimProcess fate = new SimProcess("fate");
  private final Map<Fault, Integer> counts = new EnumMap<>(Fault.class);
  private boolean over;

  /**
   * @param users may grow
   */
  public Faults(
      SimNetwork network,
      Swarm swarm,
      List<? extends SimMachine> servers,
      List<? extends SimActor> users) {
    this.network = network;
    this.scheduler = network.scheduler();
    this.random = scheduler.random();
    this.swarm = swarm;
    this.servers = servers;
    this.users = users;
  }

  /** How often each fault struck. */
  public Map<Fault, Integer> counts() {
    return counts;
  }

  /** Links of {@code process} fail, too, but nothing else befalls it. */
  public void disturb(SimProcess process) {
    bystanders.add(process);
  }

  public void begin() {
    scheduleNext(0);
  }

  /** Nothing strikes any more, and what lasts ends; servers that are dead stay so. */
  public void end() {
    over = true;
    heal();
    servers.forEach(server -> server.killWhilePersisting(-1));
  }

  private void scheduleNext(long pauseNs) {
    scheduler.schedule(
        fate,
        pauseNs + scheduler.delayNs(100_000, random.nextBoolean() ? 2_000_000 : 60_000_000),
        () -> {
          if (!over) {
            scheduleNext(turn());
          }
        });
  }

  /** Restarts, heals or strikes; returns the nanoseconds for which that should last. */
  private long turn() {
    SimMachine server = pick(servers);
    if (!server.isAlive()) {
      restart(server);
      return 0;
    }
    if (random.nextInt(5) == 0) {
      heal();
      return 0;
    }
    Fault fault = swarm.pick(random);
    counts.merge(fault, 1, Integer::sum);
    strike(fault, server, pick(users));
    return lasts(fault) && random.nextInt(3) == 0 ? EXPIRY_NS : 0;
  }

  private static boolean lasts(Fault fault) {
    return switch (fault) {
      case CUT_OFF, PARTITION, CUT_ONE_WAY, SLOW_LINK, PAUSE_CLIENT -> true;
      default -> false;
    };
  }

  private void strike(Fault fault, SimMachine server, SimActor user) {
    SimLinks links = network.links();
    switch (fault) {
      case KILL_SERVER -> server.kill();
      case KILL_PERSISTING -> server.killWhilePersisting(random.nextInt(PERSISTS_MAX));
      case KILL_CLIENT -> user.restart();
      case BREAK_CONNECTION -> network.breakOne();
      case CUT_OFF -> links.cutOff(pickProcess());
      case PARTITION -> {
        SimProcess one = server.process();
        SimProcess other = pickProcess();
        links.cut(one, other);
        links.cut(other, one);
      }
      case CUT_ONE_WAY -> {
        SimProcess other = pickProcess();
        boolean away = random.nextBoolean();
        links.cut(away ? server.process() : other, away ? other : server.process());
      }
      case SLOW_LINK -> links.slow(pickProcess(), scheduler.delayNs(0, SLOW_LINK_MAX_NS));
      case PAUSE_CLIENT -> pause(user.process());
      case PAUSE_SERVER -> pause(server.process());
      case SLOW_SERVER -> server.process().slowDown(scheduler.delayNs(0, SLOW_SERVER_MAX_NS));
      case CLOCK_JUMP -> {
        long millis = scheduler.delayNs(-JUMP_MAX_MS, JUMP_MAX_MS);
        (random.nextBoolean() ? server.clock() : user.clock()).jump(millis);
      }
      case FLIP_BIT -> server.flipBit();
      case LOSE_POOL -> server.losePool();
    }
  }

  private void pause(SimProcess process) {
    process.pause();
    long longest = PAUSE_MAX_NS[random.nextInt(PAUSE_MAX_NS.length)];
    scheduler.schedule(fate, scheduler.delayNs(0, longest), () -> process.resume(scheduler));
  }

  private void heal() {
    network.links().heal();
    for (SimProcess process : processes()) {
      process.slowDown(0);
      process.resume(scheduler);
    }
  }

  private void restart(SimMachine server) {
    try {
      boolean serves = server.start();
      Invariant.check(serves == server.isAlive(), "a server that was killed does not serve");
    } catch (IOException e) {
      throw new AssertionError("the server does not start: " + e, e);
    }
  }

  private SimProcess pickProcess() {
    return pick(processes());
  }

  private List<SimProcess> processes() {
    List<SimProcess> processes = new ArrayList<>();
    servers.forEach(server -> processes.add(server.process()));
    users.forEach(user -> processes.add(user.process()));
    processes.addAll(bystanders);
    return processes;
  }

  private <T> T pick(List<? extends T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
