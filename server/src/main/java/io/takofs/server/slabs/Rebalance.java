package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.server.namespace.StateMachine;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Chooses replicas that move although nothing is wrong with them: of slabs that have all replicas
 * in one rack to another rack, and from the fullest server of which any can move to emptier ones,
 * until every server's share of used bytes is within 5 % of all servers' share, or a slab away.
 * Nothing is remembered: what the servers have and use says what is left to do, so a leader that
 * was started again goes on.
 *
 * <p>It comes to an end: a move to another rack leaves one slab less in one rack, no move makes a
 * slab have fewer racks, and what moves between racks that are as good makes the shares more even.
 *
 * <p>Thread rule: the owner of the group.
 */
final class Rebalance {
  /** How much more or less of a server than of all may be used before something moves. */
  private static final double TOLERANCE = 0.05;

  /** Pause after a look that found nothing to move: it looks at all slabs. */
  private static final long REST_NS = TimeUnit.SECONDS.toNanos(10);

  private final Clock clock;
  private final StateMachine machine;
  private final SlabLeases leases;
  private final ServerWatch watch;
  private final SlabConditions conditions;
  private final RepairTargets targets;
  private long restingNs;

  Rebalance(
      Clock clock,
      StateMachine machine,
      SlabLeases leases,
      ServerWatch watch,
      SlabConditions conditions,
      RepairTargets targets) {
    this.clock = clock;
    this.machine = machine;
    this.leases = leases;
    this.watch = watch;
    this.conditions = conditions;
    this.targets = targets;
    this.restingNs = clock.nanoTime() - REST_NS;
  }

  /** The replica that is to move next; empty when none is better elsewhere, or nothing can move. */
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
    Optional<Replica> crowded = toAnotherRack();
    return crowded.isPresent() ? crowded : fromFullest();
  }

  /**
   * A replica of a slab that lies in one rack, if it can go to another one: such a slab was made
   * when other racks had no room or did not answer, or before the servers had racks. The first
   * replica stays, which is near whoever wrote there.
   */
  private Optional<Replica> toAnotherRack() {
    if (leases.lenders().stream().map(this::rack).distinct().count() < 2) {
      return Optional.empty();
    }
    for (Slab slab : machine.slabs().all()) {
      boolean isCrowded = slab.getReplicasCount() > 1 && targets.racks(slab, 0, 0) == 1;
      if (isCrowded && mayMove(slab)) {
        Replica leaving =
            slab.getReplicasList().stream()
                .skip(1)
                .max(Comparator.comparingDouble(each -> share(leases.lender(each.getServer()), 0)))
                .orElseThrow();
        if (!betterServers(slab, leaving.getServer()).isEmpty()) {
          return Optional.of(leaving);
        }
      }
    }
    return Optional.empty();
  }

  private String rack(SlabLender lender) {
    return watch.entry(lender.server).getRack();
  }

  private Optional<Replica> fromFullest() {
    Collection<SlabLender> lenders = leases.lenders();
    long used = lenders.stream().mapToLong(this::used).sum();
    long capacity = lenders.stream().mapToLong(lender -> lender.usage.getCapacity()).sum();
    double all = (double) used / capacity;
    // One new server of many leaves none that has much more than all have.
    boolean isOneEmptier = lenders.stream().anyMatch(lender -> share(lender, 0) < all - TOLERANCE);
    double most = isOneEmptier ? all : all + TOLERANCE;
    // The only server of a rack may be the fullest one, and keep everything.
    return lenders.stream()
        .filter(lender -> share(lender, 0) > most)
        .sorted(Comparator.comparingDouble(lender -> -share(lender, 0)))
        .map(this::movable)
        .flatMap(Optional::stream)
        .findFirst();
  }

  private Optional<Replica> movable(SlabLender from) {
    for (Slab slab : machine.slabs().all()) {
      Optional<Replica> replica = at(slab, from.server);
      if (replica.isPresent()
          && !machine.slabs().isWhollyFree(slab.getId())
          && mayMove(slab)
          && !betterServers(slab, from.server).isEmpty()) {
        return replica;
      }
    }
    return Optional.empty();
  }

  private static Optional<Replica> at(Slab slab, int server) {
    return slab.getReplicasList().stream().filter(each -> each.getServer() == server).findAny();
  }

  /** Whether nobody writes the slab now, and all of its replicas are there. */
  private boolean mayMove(Slab slab) {
    return !slab.getClosed() && !machine.isWrittenIn(slab.getId()) && conditions.isIntact(slab);
  }

  /**
   * The servers to which the replica of {@code slab} at {@code from} is better moved: those that
   * give a slab of one rack another one, and those in no worse a rack that will be clearly less
   * full than {@code from} is now, so that nothing moves back. Best first; none when things have
   * changed since the replica was chosen. None is a server that a client reported, for the reason
   * that {@link RepairTargets#candidates} has.
   */
  List<SlabLender> betterServers(Slab slab, int from) {
    return targets.candidates(slab, from).stream().filter(to -> isBetter(slab, from, to)).toList();
  }

  private boolean isBetter(Slab slab, int from, SlabLender to) {
    if (to.server == from || watch.isReported(to.server) || leases.unreserved(to) == 0) {
      return false;
    }
    long racks = targets.racks(slab, from, from);
    long racksThen = targets.racks(slab, from, to.server);
    if (racks == 1 && racksThen > 1) {
      return true;
    }
    SlabLender left = leases.lender(from);
    long bytes = machine.slabs().usedBytesOf(slab.getId());
    return racksThen >= racks && left != null && share(to, bytes) + TOLERANCE <= share(left, 0);
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
