package io.takofs.sim.log;

import io.takofs.server.log.LogMember;
import io.takofs.sim.Fault;
import io.takofs.sim.Faults;
import io.takofs.sim.SimConditions;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.sim.Swarm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Members of a group and users who propose values, with everything that can happen to them; the
 * log, the elections and the one-sided writes are real.
 */
final class GroupLogSimulation {
  private static final int[] MEMBERS = {3, 3, 3, 5};

  /** How often a member stands for election in a tick, without a reason. */
  private static final double[] RESTLESSNESS = {0, 0, 0.001, 0.01};

  /** Servers that are no members at first; without one the members stay. */
  private static final int[] SPARE = {0, 1, 2, 3};

  /** Longest time until the members change again. */
  private static final long[] CHANGE_MAX_NS = {40_000_000, 200_000_000, 1_000_000_000};

  /** How often something strikes a member at a moment that matters. */
  private static final double[] SPITE = {0, 0.05, 0.2, 0.5};

  /** How often an operation, or a call, overtakes others. */
  private static final double[] STALLS = {0.02, 0.02, 0.3};

  /** For how long a leader may go on storing to a member whose process has ended. */
  private static final long[] STRAYS_NS = {0, 0, 30_000_000, 1_000_000_000};

  /** How often a connection breaks while an operation is under way. */
  private static final double[] DROPS = {0.002, 0.002, 0.02};

  /** Longest time until leaders are estranged from the others again, and for which they are. */
  private static final long ESTRANGE_MAX_NS = 400_000_000;

  private static final long ESTRANGED_MAX_NS = 300_000_000;
  private static final long SLOW_MAX_NS = 100_000_000;

  private static final int USERS = 2;

  /** Values that a user proposes at once, at most: many are long writes, and full segments soon. */
  private static final int[] BURST = {1, 4, 30};

  /** Where everything strikes at once nobody may ever get far: then it has to end some time. */
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(4);

  /** In one of so many runs the catalog stays away at the end. */
  private static final int AWAY_IN = 4;

  /** Longer than a leader stays without a majority. */
  private static final long OUTAGE_NS = TimeUnit.SECONDS.toNanos(1);

  private static final long PROPOSE_NS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final long FINAL_VALUES = 9L << 40;
  private static final long HEAL_NS = TimeUnit.SECONDS.toNanos(20);

  private final long seed;
  private final int steps;
  private final Set<BrokenRule> broken;
  private final SimScheduler scheduler;
  private final SimNetwork network;
  private final Swarm swarm;
  private final List<SimLogMember> members = new ArrayList<>();
  private SimLogMember gone; // for good; null for none
  private final Set<Integer> damaged = new TreeSet<>(); // never a majority
  private final List<LogUser> users = new ArrayList<>();
  private final LogHistory history = new LogHistory();
  private final SimProcess fate = new SimProcess("checker");
  private long finalValue;
  private SimCatalog catalog;
  private long changeMaxNs;
  private boolean calm;
  private boolean leadersChoose; // who the members are
  private boolean allWhole; // at the end
  private LogInvariants invariants;

  GroupLogSimulation(long seed, int steps, Set<BrokenRule> broken) {
    this.broken = broken;
    this.seed = seed;
    this.steps = steps;
    this.scheduler = new SimScheduler(seed);
    this.swarm = new Swarm(scheduler.random());
    double stalls = STALLS[scheduler.random().nextInt(STALLS.length)];
    double drops = DROPS[scheduler.random().nextInt(DROPS.length)];
    this.network =
        new SimNetwork(
            scheduler, new SimConditions(500, 200_000, stalls, 3_000_000, drops, 0.7, false));
    network.setStrays(STRAYS_NS[scheduler.random().nextInt(STRAYS_NS.length)]);
  }

  /**
   * Runs one seed and prints what came of it.
   *
   * @param args the seed; steps a user
   */
  public static void main(String[] args) {
    System.out.println(
        new GroupLogSimulation(Long.parseLong(args[0]), Integer.parseInt(args[1]), Set.of()).run());
  }

  /** The outcome of a run, and a number that differs when anything happened differently. */
  record Result(
      int members,
      int acknowledged,
      int reads,
      int leaseReads,
      int terms,
      int changes,
      int changesByLeaders,
      int takeovers,
      int renewals,
      Map<Fault, Integer> faults,
      long virtualNs,
      long trace) {}

  /** Runs; fails with an AssertionError that names the seed. */
  Result run() {
    try {
      return simulate();
    } catch (AssertionError | IOException | RuntimeException e) {
      List<String> state = members.stream().map(GroupLogSimulation::describe).toList();
      throw new AssertionError(
          "seed " + seed + " with " + swarm + ": " + e + "\n" + catalog.newest() + state, e);
    }
  }

  /** In every other run leaders have leases, and always where a rule of those is broken. */
  private boolean hasLeases() {
    return seed % 2 != 0
        || broken.contains(BrokenRule.LEASE_FROM_ANSWER)
        || broken.contains(BrokenRule.VOTE_IN_LEASE);
  }

  private static String describe(SimLogMember member) {
    return "\n"
        + (member.isAlive() ? "" : "dead, ")
        + (member.isDamaged() ? "bits have changed, " : "")
        + member.member();
  }

  private Result simulate() throws IOException {
    int count = MEMBERS[scheduler.random().nextInt(MEMBERS.length)];
    Set<Integer> ids = new TreeSet<>();
    for (int i = 1; i <= count; i++) {
      ids.add(i);
    }
    int servers = count + SPARE[scheduler.random().nextInt(SPARE.length)];
    catalog = new SimCatalog(scheduler, servers, ids, broken);
    changeMaxNs = CHANGE_MAX_NS[scheduler.random().nextInt(CHANGE_MAX_NS.length)];
    double spite = SPITE[scheduler.random().nextInt(SPITE.length)];
    double restless = RESTLESSNESS[scheduler.random().nextInt(RESTLESSNESS.length)];
    for (int i = 1; i <= servers; i++) {
      members.add(
          new SimLogMember(
              network,
              i,
              members,
              catalog,
              history,
              restless,
              spite,
              damaged,
              (count - 1) / 2,
              hasLeases(),
              broken));
    }
    if (broken.isEmpty() && scheduler.random().nextBoolean()) {
      members.forEach(SimLogMember::checkpointWhenShort);
    }
    boolean ofCopies =
        broken.contains(BrokenRule.COUNTS_WITHOUT_STATE)
            || broken.contains(BrokenRule.GIVES_UP_COUNTED);
    if (broken.isEmpty() || ofCopies) {
      LogCopies copies = new LogCopies(members, catalog::newest, history);
      members.forEach(each -> each.lookAtCopies(copies::check));
    }
    leadersChoose =
        broken.contains(BrokenRule.COUNTED_RENEWAL)
            || ofCopies
            || (broken.isEmpty() && scheduler.random().nextBoolean());
    for (SimLogMember member : members) {
      if (leadersChoose) {
        member.chooseMembers(count);
      }
      check(member.start(), "the first start was killed");
    }
    int burst = BURST[scheduler.random().nextInt(BURST.length)];
    for (int i = 1; i <= USERS; i++) {
      LogUser user = new LogUser(network, members, i, steps, burst);
      users.add(user);
      user.start();
    }
    invariants = new LogInvariants(members, catalog::newest, history, !broken.isEmpty());
    scheduler.check(1, invariants::check);
    Faults faults = new Faults(network, swarm, members, users);
    faults.begin();
    if (servers > count) {
      changeMembers();
    }
    if (hasLeases()) {
      estrangeLeaders();
    }
    if (leadersChoose) {
      damageMembers();
    }
    scheduler.await(LIMIT_NS, this::areUsersDone);
    users.forEach(user -> user.process().kill());
    faults.end();
    finish();
    return new Result(
        count,
        history.acknowledgedCount(),
        history.reads(),
        history.leaseReads(),
        invariants.terms(),
        catalog.changes(),
        leadersChoose ? catalog.changes() : 0,
        members.stream().mapToInt(SimLogMember::takeovers).sum(),
        members.stream().mapToInt(SimLogMember::renewals).sum(),
        faults.counts(),
        scheduler.nowNs(),
        scheduler.trace().hash());
  }

  private boolean areUsersDone() {
    for (LogUser user : users) {
      if (!user.isDone()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Now and then a server takes the place of another one, and somebody stands for election. Where
   * leaders choose the members they are asked for it, and the one that comes learns the log first;
   * else it is done whatever that one has.
   */
  private void changeMembers() {
    scheduler.schedule(
        fate,
        scheduler.delayNs(0, changeMaxNs),
        () -> {
          if (!calm) {
            replace();
            changeMembers();
          }
          if (!calm || !catalog.newest().active()) {
            standForElection(members);
          }
        });
  }

  private void replace() {
    int leaves = 1 + scheduler.random().nextInt(members.size());
    int comes = 1 + scheduler.random().nextInt(members.size());
    if (!leadersChoose) {
      catalog.replace(leaves, comes);
      return;
    }
    Set<Integer> now = catalog.newest().members();
    while (now.contains(comes)) {
      comes = comes % members.size() + 1;
    }
    while (!now.contains(leaves)) {
      leaves = leaves % members.size() + 1;
    }
    for (SimLogMember each : members) {
      if (each.isAlive() && each.leadingTerm() != 0) {
        each.replace(leaves, comes);
      }
    }
  }

  /**
   * Now and then an entry of somebody is damaged, who finds that when something looks at it, or
   * when another process starts.
   */
  private void damageMembers() {
    scheduler.schedule(
        fate,
        scheduler.delayNs(0, changeMaxNs),
        () -> {
          if (calm) {
            return;
          }
          SimLogMember one = members.get(scheduler.random().nextInt(members.size()));
          if (one.isAlive() && one.damageEntry() && scheduler.random().nextBoolean()) {
            one.kill();
          }
          damageMembers();
        });
  }

  /**
   * Now and then somebody who leads is cut off, far away or frozen for as long as leases matter.
   */
  private void estrangeLeaders() {
    scheduler.schedule(
        fate,
        scheduler.delayNs(0, ESTRANGE_MAX_NS),
        () -> {
          if (calm) {
            return;
          }
          for (SimLogMember each : members) {
            if (each.isAlive() && each.member().role() == LogMember.Role.LEADING) {
              estrange(each.process());
            }
          }
          estrangeLeaders();
        });
  }

  private void estrange(SimProcess leader) {
    switch (scheduler.random().nextInt(3)) {
      case 0 -> network.links().cutOff(leader);
      case 1 -> network.links().slow(leader, scheduler.delayNs(0, SLOW_MAX_NS));
      default -> leader.pause();
    }
    scheduler.schedule(
        fate,
        scheduler.delayNs(0, ESTRANGED_MAX_NS),
        () -> {
          network.links().heal();
          leader.resume(scheduler);
        });
  }

  /** Somebody stands for election, by himself or because the leader hands over. */
  private void standForElection(List<SimLogMember> from) {
    SimLogMember one = from.get(scheduler.random().nextInt(from.size()));
    boolean handedOver = scheduler.random().nextBoolean();
    if (one.isAlive()) {
      long released = handedOver ? releasedTerm() : 0;
      scheduler.schedule(one.process(), 0, () -> one.member().stand(released));
    }
  }

  private long releasedTerm() {
    for (SimLogMember each : members) {
      long released = each.isAlive() ? each.releaseLease() : 0;
      if (released != 0) {
        return released;
      }
    }
    return 0;
  }

  /** Nothing strikes any more: somebody leads soon, and all have the same. */
  private void finish() throws IOException {
    network.setConditions(SimConditions.CALM);
    members.forEach(SimLogMember::calmDown);
    calm = true;
    scheduler.pass(network.strayNs());
    startAll();
    if (scheduler.random().nextInt(AWAY_IN) == 0) {
      loseCatalog();
    } else {
      catalog.calmDown();
      if (leadersChoose) {
        findDamage();
      }
    }
    activate();
    proposeNext();
    scheduler.await(HEAL_NS, this::haveAllFinal);
    check(haveAllFinal(), "not all members are whole, or have what was committed, at the end");
  }

  /**
   * A member with damage finds it when it starts again, and has to begin anew; one that finds none
   * had it where it has no log any more.
   */
  private void findDamage() throws IOException {
    allWhole = true;
    List<SimLogMember> changed = members.stream().filter(SimLogMember::isDamaged).toList();
    changed.forEach(SimLogMember::kill);
    scheduler.pass(network.strayNs());
    for (SimLogMember member : changed) {
      check(member.start(), "a damaged member does not start");
      if (member.isSound()) {
        damaged.remove(member.id());
      }
    }
  }

  private void startAll() throws IOException {
    for (SimLogMember member : members) {
      if (!member.isAlive()) {
        check(member.start() || member.isDamaged(), "killed by nobody");
      }
    }
  }

  /**
   * The catalog goes away for good, but for one member. The others are killed, and start again with
   * their copies when no leader is left; all but one, where a majority does without it.
   */
  private void loseCatalog() throws IOException {
    List<SimLogMember> able = new ArrayList<>(soundMembers());
    SimLogMember reader = able.remove(scheduler.random().nextInt(able.size()));
    catalog.goAway(reader.id());
    members.stream().filter(each -> each != reader).forEach(SimLogMember::kill);
    scheduler.pass(OUTAGE_NS + network.strayNs());
    startAll();
    SimLogMember one = able.get(scheduler.random().nextInt(able.size()));
    if (members.stream().noneMatch(SimLogMember::isFaulty) && one.canBeSpared()) {
      gone = one;
      gone.kill();
    }
  }

  /**
   * The members by the newest configuration, but those whose bits have changed or that are gone.
   */
  private List<SimLogMember> soundMembers() {
    return members.stream()
        .filter(each -> catalog.newest().members().contains(each.id()))
        .filter(each -> each != gone && !each.isDamaged())
        .toList();
  }

  /** The last change of the members is completed, by one who knows of it. */
  private void activate() {
    if (!catalog.newest().active()) {
      standForElection(
          soundMembers().stream().filter(each -> catalog.isReadBy(each.id())).toList());
      scheduler.schedule(fate, PROPOSE_NS, this::activate);
    }
  }

  /** Whether a value that was proposed at the end was committed, and has come to all. */
  private boolean haveAllFinal() {
    if (!catalog.newest().active() || !isFinalAcknowledged()) {
      return false;
    }
    if (allWhole && !members.stream().allMatch(SimLogMember::isSound)) {
      return false;
    }
    List<SimLogMember> sound = soundMembers();
    // Asked after every event: entries are compared only once all have as many.
    int count = history.values().size();
    return sound.stream().allMatch(each -> each.delivered().size() == count)
        && sound.stream().allMatch(each -> each.delivered().equals(history.values()));
  }

  private boolean isFinalAcknowledged() {
    for (long value = FINAL_VALUES; value <= finalValue; value++) {
      if (history.isAcknowledged(value)) {
        return true;
      }
    }
    return false;
  }

  /** Proposes one value more to whoever leads, until all members have one. */
  private void proposeNext() {
    if (finalValue < FINAL_VALUES || !haveAllFinal()) {
      finalValue = Math.max(FINAL_VALUES, finalValue + 1);
      members.forEach(each -> each.propose(finalValue++));
      scheduler.schedule(fate, PROPOSE_NS, this::proposeNext);
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
