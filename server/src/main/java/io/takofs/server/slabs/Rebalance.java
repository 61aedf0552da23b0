package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.server.namespace.StateMachine;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Chooses replicas that move from the fullest server to emptier ones, until every server's share of
 * used bytes is within 5 % of all servers' share. Nothing is remembered: what the servers use says
 * what is left to do, so a leader that was started again goes on.
 *
 * <p>Thread rule: the owner of the group.
 */
final class Rebalance {
  /** How much of a server more than of all may be used before something moves from there. */
  private static final double TOLERANCE = 0.05;

  /** Pause after a look that found nothing to move: it looks at all slabs. */
  private static final long REST_NS = TimeUnit.SECONDS.toNanos(10);

  private final Clock clock;
  private final StateMachine machine;
  private final SlabLeases leases;
  private final SlabConditions conditions;
  private final RepairTargets targets;
  private long restingNs;

  Rebalance(
      Clock clock,
      StateMachine machine,
      SlabLeases leases,
      SlabConditions conditions,
      RepairTargets targets) {
    this.clock = clock;
    this.machine = machine;
    this.leases = leases;
    this.conditions = conditions;
    this.targets = targets;
    this.restingNs = clock.nanoTime() - REST_NS;
  }

  /** The replica that is to move next; empty when the servers are even, or nothing can move. */
  Optional<Replica> next() {
    long now = clock.nanoTime();
    if (now - restingNs < REST_NS) {
      return Optional.empty();
    }
    Optional<Replica> chosen = choose();
    if (chosen.isEmpty()) {
      restingNs = now;
    }
    return chosen;
  }

  private Optional<Replica> choose() {
    long used = 0;
    long capacity = 0;
    SlabLender fullest = null;
    for (SlabLender lender : leases.lenders()) {
      used += used(lender);
      capacity += lender.usage.getCapacity();
      if (fullest == null || share(lender, 0) > share(fullest, 0)) {
        fullest = lender;
      }
    }
    if (fullest == null || share(fullest, 0) <= (double) used / capacity + TOLERANCE) {
      return Optional.empty();
    }
    for (Slab slab : machine.slabs().all()) {
      Optional<Replica> replica = at(slab, fullest.server);
      if (replica.isPresent() && mayMove(slab, fullest)) {
        return replica;
      }
    }
    return Optional.empty();
  }

  private static Optional<Replica> at(Slab slab, int server) {
    return slab.getReplicasList().stream().filter(each -> each.getServer() == server).findAny();
  }

  /**
   * Whether a slab that nobody writes now can move from {@code fullest} to a server that will be
   * clearly less full than that one is, so that nothing moves back, and to no worse a rack.
   */
  private boolean mayMove(Slab slab, SlabLender fullest) {
    if (slab.getClosed()
        || machine.slabs().isWhollyFree(slab.getId())
        || machine.isWrittenIn(slab.getId())
        || !conditions.isIntact(slab)) {
      return false;
    }
    int from = fullest.server;
    List<SlabLender> candidates = targets.candidates(slab, from);
    if (candidates.isEmpty() || candidates.get(0).server == from) {
      return false;
    }
    SlabLender to = candidates.get(0);
    long bytes = machine.slabs().usedBytesOf(slab.getId());
    return share(to, bytes) + TOLERANCE <= share(fullest, 0)
        && targets.racks(slab, from, to.server) >= targets.racks(slab, from, from);
  }

  private long used(SlabLender lender) {
    return machine.slabs().usedBytesAt(lender.server);
  }

  /** The share of a server's bytes that extents have, if {@code more} came. */
  private double share(SlabLender lender, long more) {
    long capacity = lender.usage.getCapacity();
    return capacity == 0 ? 0 : (double) (used(lender) + more) / capacity;
  }
}
