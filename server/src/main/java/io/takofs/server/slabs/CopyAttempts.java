package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyFailure;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import io.takofs.server.slabs.SlabConditions.Condition;
import io.takofs.server.slabs.SlabConditions.Lack;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The attempts to fill new replicas: asks their targets to copy what is committed, and how far they
 * have come, until everything is copied or the attempt is given up.
 *
 * <p>A target has several attempts at a time, so that it copies for one while the leader ends
 * another and begins the next. With a limit, which is slower than that, it has one in reserve.
 *
 * <p>Thread rule: the owner of the group.
 */
final class CopyAttempts {
  private static final Logger LOG = LoggerFactory.getLogger(CopyAttempts.class);

  /** Attempts of one target at a time. */
  private static final int UNLIMITED = 4;

  private static final int LIMITED = 2;

  /** Takes the replica of an attempt that is complete into its slab. */
  @FunctionalInterface
  interface Replacement {
    /**
     * @param leaving server of the replica that leaves; 0 when one is added
     */
    void of(CopyAttempt attempt, int leaving) throws TakoException;
  }

  private final Clock clock;
  private final StateMachine machine;
  private final SlabLeases leases;
  private final SlabConditions conditions;
  private final RepairTargets targets;
  private final RepairProgress progress;
  private final long bandwidth;
  private final Map<Long, CopyAttempt> attempts = new TreeMap<>(); // by slab

  /**
   * @param bandwidth bytes a second that all together may read; 0 for no limit
   */
  CopyAttempts(
      Clock clock,
      StateMachine machine,
      SlabLeases leases,
      SlabConditions conditions,
      RepairTargets targets,
      long bandwidth) {
    this.clock = clock;
    this.machine = machine;
    this.leases = leases;
    this.conditions = conditions;
    this.targets = targets;
    this.progress = new RepairProgress(clock);
    this.bandwidth = bandwidth;
  }

  /** Begins to fill {@code target}, which was leased for it. */
  void begin(Slab slab, Replica target) {
    attempts.put(
        slab.getId(), new CopyAttempt(slab.getId(), slab.getVersion(), target, clock.nanoTime()));
    Facts.of("slab", slab.getId())
        .and("target", target.getServer())
        .info(LOG, "a replica of a slab is made");
  }

  boolean isEmpty() {
    return attempts.isEmpty();
  }

  int count() {
    return attempts.size();
  }

  boolean contains(long slab) {
    return attempts.containsKey(slab);
  }

  /** Attempts of which {@code server} is the target. */
  int countAt(int server) {
    return (int)
        attempts.values().stream().filter(each -> each.target.getServer() == server).count();
  }

  /** Whether {@code server} may be the target of one more. */
  boolean mayBegin(int server) {
    return countAt(server) < mostAt();
  }

  private int mostAt() {
    return bandwidth == 0 ? UNLIMITED : LIMITED;
  }

  /** The copies that were made since the leader started. */
  RepairProgress progress() {
    return progress;
  }

  /** Bytes that are to be copied still. */
  long bytesLeft() {
    long left = 0;
    for (CopyAttempt attempt : attempts.values()) {
      left += Math.max(0, machine.slabs().usedBytesOf(attempt.slab) - attempt.copiedBytes());
    }
    return left;
  }

  /** Nothing could come of the attempts until now. */
  void excuse() {
    long now = clock.nanoTime();
    for (CopyAttempt attempt : attempts.values()) {
      attempt.progressNs = now;
      attempt.rest(now, CopyPace.POLL_MAX_NS);
    }
  }

  /** Nanoseconds until a question may be due; answers that are awaited ask for a tick. */
  long pauseNs() {
    return attempts.values().stream()
        .filter(attempt -> !attempt.isAsked)
        .mapToLong(attempt -> Math.max(CopyPace.POLL_MIN_NS, attempt.pauseNs))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Goes on with all of them. */
  void advance(Replacement replacement) throws TakoException {
    for (CopyAttempt attempt : List.copyOf(attempts.values())) {
      advance(attempt, replacement);
    }
  }

  private void advance(CopyAttempt attempt, Replacement replacement) throws TakoException {
    if (attempt.isAsked) {
      return; // every question is answered
    }
    Slab slab = machine.slabs().get(attempt.slab);
    if (slab == null || slab.getVersion() != attempt.version || !slab.getClosed()) {
      giveUp(attempt, "the slab has changed");
      return;
    }
    Condition condition = conditions.of(slab);
    if (condition.lack() == Lack.NOTHING || conditions.isEmpty(slab)) {
      giveUp(attempt, "it is not needed any more");
      return;
    }
    int server = attempt.target.getServer();
    if (!leases.mayKeep(attempt.target)) {
      giveUp(attempt, "server %d is not there any more".formatted(server));
      return;
    }
    long now = clock.nanoTime();
    if (now - attempt.progressNs >= patienceNs()) {
      targets.failed(attempt.slab, server);
      conditions.forgetDamageOfAll(slab);
      conditions.stay(slab);
      giveUp(attempt, attempt.trouble);
      return;
    }
    if (attempt.pending().isEmpty()) {
      attempt.records(machine.committedIn(attempt.slab));
      if (attempt.pending().isEmpty()) {
        if (leases.isTaken(attempt.target)) {
          replacement.of(attempt, leaving(slab, attempt.target, condition));
        } else {
          attempt.rest(now, CopyPace.POLL_MAX_NS);
        }
        return;
      }
    }
    if (attempt.isDue(now)) {
      ask(attempt, slab);
    }
  }

  /** A server has one replica of a slab at most: a new one there comes instead of its own. */
  private static int leaving(Slab slab, Replica target, Condition condition) {
    boolean hasOne =
        slab.getReplicasList().stream().anyMatch(each -> each.getServer() == target.getServer());
    return hasOne ? target.getServer() : condition.leaving();
  }

  private void ask(CopyAttempt attempt, Slab slab) {
    List<Replica> sources = conditions.sources(slab);
    if (sources.isEmpty()) {
      attempt.rest(clock.nanoTime(), CopyPace.POLL_MAX_NS);
      return;
    }
    List<Extent> asked = attempt.pending();
    CopyExtents.Builder copy =
        CopyExtents.newBuilder()
            .setAttempt(attempt.target.getLease())
            .setTarget(attempt.target)
            .addAllSources(sources)
            .addAllExtents(asked)
            .setBytesPerSecond(pace().bytesPerSecond());
    attempt.isAsked = true;
    attempt.askedNs = clock.nanoTime();
    leases.copy(
        copy,
        reply -> {
          attempt.isAsked = false;
          long bytes = 0;
          if (reply.getStatus() == Status.OK) {
            bytes = attempt.take(asked, reply.getCopyProgress(), clock.nanoTime());
            progress.copied(bytes);
            reply.getCopyProgress().getFailedList().stream()
                .filter(CopyFailure::getWrongBytes)
                .forEach(failure -> conditions.damaged(slab, failure.getSource()));
          } else {
            attempt.trouble = reply.getMessage();
          }
          attempt.pauseNs = pace().pauseNs(bytes > 0, attempt.pauseNs);
        });
  }

  /** An attempt of which nothing has come for so long is given up. */
  private long patienceNs() {
    return pace().patienceNs((long) mostAt() * Layout.SLAB_SIZE);
  }

  private CopyPace pace() {
    long busy =
        attempts.values().stream().map(attempt -> attempt.target.getServer()).distinct().count();
    return CopyPace.of(bandwidth, busy);
  }

  /** The replica of {@code attempt} is in its slab. */
  void done(CopyAttempt attempt) {
    attempts.remove(attempt.slab);
    leases.placed(attempt.target);
    progress.done();
  }

  /** Ends {@code attempt}, and gives its lease back. */
  void giveUp(CopyAttempt attempt, String why) {
    attempts.remove(attempt.slab);
    Facts.of("slab", attempt.slab)
        .and("target", attempt.target.getServer())
        .info(LOG, "no replica of a slab is made there: " + why);
    Slab slab = machine.slabs().at(attempt.target);
    if (slab != null && slab.getReplicasList().contains(attempt.target)) {
      leases.placed(attempt.target);
    } else {
      leases.giveBack(attempt.target);
    }
  }
}
