package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.namespace.StateMachine;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has every server verify what is committed in its replicas once a period, one slab at a time. A
 * replica with wrong bytes is replaced, as one is of which a client reported them.
 *
 * <p>A leader that was started begins anew after ten minutes, or after a period if that is shorter:
 * not with the first slab, but with the one whose turn it would be if a pass took the whole period,
 * so that leaders which are started again and again come to all of them.
 *
 * <p>Thread rule: the owner of the group.
 */
final class Scrub {
  private static final Logger LOG = LoggerFactory.getLogger(Scrub.class);

  /** Time after the start in which nothing is verified: clients and repair come first. */
  private static final long START_NS = TimeUnit.MINUTES.toNanos(10);

  /** A slab of which a server verifies nothing for so long is passed over. */
  private static final long STUCK_NS = TimeUnit.MINUTES.toNanos(1);

  /** Pause between two questions how far a server has come. */
  private static final long POLL_MIN_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final long POLL_MAX_NS = TimeUnit.SECONDS.toNanos(1);

  /** Slabs that one tick looks at, to find one with a replica at the server. */
  private static final int LOOK_MAX = 4096;

  /** How far a server has come. */
  private static final class Pass {
    final long first; // the slab after which it begins
    long dueNs;
    long cursor; // the slab that was verified last, or the one before the first
    boolean hasWrapped; // it has come to the last slab, and goes on with those up to the first
    CopyAttempt slab; // null while none is verified

    Pass(long first, long dueNs) {
      this.first = first;
      this.cursor = first;
      this.dueNs = dueNs;
    }
  }

  private final Clock clock;
  private final StateMachine machine;
  private final SlabLeases leases;
  private final SlabConditions conditions;
  private final BadFiles badFiles;
  private final RepairSettings settings;
  private final Map<Integer, Pass> passes = new TreeMap<>(); // by server
  private final long startNs;
  private final WrongCopies wrong = new WrongCopies();
  private long bytes;

  Scrub(
      Clock clock,
      StateMachine machine,
      SlabLeases leases,
      SlabConditions conditions,
      BadFiles badFiles,
      RepairSettings settings) {
    this.clock = clock;
    this.machine = machine;
    this.leases = leases;
    this.conditions = conditions;
    this.badFiles = badFiles;
    this.settings = settings;
    this.startNs = clock.nanoTime();
  }

  /** Bytes that were verified since the leader was started. */
  long bytes() {
    return bytes;
  }

  /** Copies of extents that were found wrong since the leader was started; each counts once. */
  long wrong() {
    return wrong.found();
  }

  /** Nothing was to be verified until now. */
  void excuse() {
    passes.values().forEach(this::excuse);
  }

  private void excuse(Pass pass) {
    if (pass.slab != null) {
      pass.slab.progressNs = clock.nanoTime();
    }
  }

  /** Nanoseconds until a question may be due; answers that are awaited ask for a tick. */
  long pauseNs() {
    return passes.values().stream()
        .filter(pass -> pass.slab != null && !pass.slab.isAsked)
        .mapToLong(pass -> Math.max(POLL_MIN_NS, pass.slab.pauseNs))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Goes on at every server. */
  void tick() {
    long periodNs = settings.scrubPeriod().toNanos();
    if (periodNs == 0) {
      return;
    }
    for (SlabLender lender : leases.lenders()) {
      Pass pass = passes.get(lender.server);
      if (pass == null) {
        pass = new Pass(inTurn(), startNs + Math.min(periodNs, START_NS));
        passes.put(lender.server, pass);
      }
      if (!leases.isPresent(lender)) {
        excuse(pass); // it goes on where it was once the server is back
      } else if (clock.nanoTime() - pass.dueNs >= 0) {
        goOn(lender.server, pass, periodNs);
      }
    }
  }

  /** As far through the slabs as the clock is through a period. */
  private long inTurn() {
    long periodMs = Math.max(1, settings.scrubPeriod().toMillis());
    double share = (double) (clock.currentTimeMillis() % periodMs) / periodMs;
    return (long) (share * machine.slabs().lastId());
  }

  private void goOn(int server, Pass pass, long periodNs) {
    if (pass.slab == null && !begin(server, pass)) {
      wrong.prune(conditions::isPresent);
      long late = clock.nanoTime() - pass.dueNs;
      passes.put(server, new Pass(0, pass.dueNs + Math.max(periodNs, late)));
      return;
    }
    CopyAttempt attempt = pass.slab;
    if (attempt == null || attempt.isAsked) {
      return;
    }
    Slab slab = machine.slabs().get(attempt.slab);
    boolean isThere =
        slab != null
            && slab.getReplicasList().contains(attempt.target)
            && leases.isIntact(attempt.target)
            && clock.nanoTime() - attempt.progressNs < STUCK_NS;
    if (isThere && !attempt.pending().isEmpty()) {
      if (attempt.isDue(clock.nanoTime())) {
        ask(attempt);
      }
    } else {
      pass.slab = null; // the next tick takes the next one
    }
  }

  /** Takes the next slab with a replica at the server; false when that was the last. */
  private boolean begin(int server, Pass pass) {
    List<Slab> next = machine.slabs().after(pass.cursor, LOOK_MAX);
    for (Slab slab : next) {
      if (pass.hasWrapped && slab.getId() > pass.first) {
        return false;
      }
      pass.cursor = slab.getId();
      Optional<Replica> replica =
          slab.getReplicasList().stream().filter(each -> each.getServer() == server).findAny();
      if (replica.isPresent() && leases.isIntact(replica.get())) {
        pass.slab =
            new CopyAttempt(slab.getId(), slab.getVersion(), replica.get(), clock.nanoTime());
        pass.slab.records(machine.committedIn(slab.getId()));
        wrong.retain(replica.get(), pass.slab.pending());
        return true;
      }
    }
    if (next.size() == LOOK_MAX) {
      return true;
    }
    boolean goesOn = pass.first > 0 && !pass.hasWrapped;
    pass.hasWrapped = true;
    pass.cursor = 0;
    return goesOn;
  }

  private void ask(CopyAttempt attempt) {
    List<Extent> asked = attempt.pending();
    CopyExtents.Builder verify =
        CopyExtents.newBuilder()
            .setAttempt(attempt.target.getLease())
            .setTarget(attempt.target)
            .addAllExtents(asked)
            .setBytesPerSecond(settings.scrubBandwidth());
    attempt.isAsked = true;
    attempt.askedNs = clock.nanoTime();
    attempt.pauseNs = Math.min(POLL_MAX_NS, Math.max(POLL_MIN_NS, 2 * attempt.pauseNs));
    leases.copy(verify, reply -> answered(attempt, asked, reply));
  }

  private void answered(CopyAttempt attempt, List<Extent> asked, Reply reply) {
    attempt.isAsked = false;
    if (reply.getStatus() != Status.OK) {
      return; // it is asked again, or passed over
    }
    CopyProgress progress = reply.getCopyProgress();
    long verified = attempt.take(asked, progress, clock.nanoTime());
    if (verified > 0) {
      bytes += verified;
      attempt.pauseNs = POLL_MIN_NS;
    }
    List<Extent> failed =
        progress.getFailedList().stream()
            .filter(failure -> failure.getWrongBytes() && failure.getIndex() < asked.size())
            .map(failure -> asked.get(failure.getIndex()))
            .toList();
    if (!failed.isEmpty()) {
      // What was deleted since it was asked for may have other bytes by now.
      attempt.records(machine.committedIn(attempt.slab));
      failed.stream().filter(attempt.pending()::contains).forEach(each -> found(attempt, each));
      attempt.passOver(failed);
    }
  }

  private void found(CopyAttempt attempt, Extent extent) {
    Slab slab = machine.slabs().get(attempt.slab);
    boolean isOnly = slab.getReplicasCount() == 1;
    if (wrong.add(attempt.target, extent)) {
      tell(attempt, extent, isOnly);
    }
    if (isOnly) {
      badFiles.corrupt(extent);
    }
    conditions.damaged(slab, attempt.target.getServer());
  }

  private static void tell(CopyAttempt attempt, Extent extent, boolean isOnly) {
    Facts.of("slab", attempt.slab)
        .and("server", attempt.target.getServer())
        .and("offset", extent.getOffset())
        .and("bytes", extent.getLength())
        .error(
            LOG,
            isOnly
                ? "the only copy has wrong bytes: restore the file that tako fsck names, and check"
                    + " the memory of that machine"
                : "a copy has wrong bytes, and will be replaced when a server has room: check the"
                    + " memory of that machine");
  }
}
