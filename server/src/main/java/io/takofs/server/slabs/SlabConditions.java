package io.takofs.server.slabs;

import io.takofs.proto.Replica;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Slab;
import io.takofs.server.namespace.StateMachine;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Finds what slabs lack, as far as is known of the servers that keep their replicas.
 *
 * <p>Thread rule: the owner of the group.
 */
final class SlabConditions {
  /** Time for which commits still count in the slabs of a server that was just found dead. */
  private static final long CLOSING_NS = TimeUnit.SECONDS.toNanos(1);

  /** Replicas with wrong bytes that are remembered at most. */
  private static final int DAMAGED_MAX = 64;

  /** The lack of a slab; the first one that applies. */
  enum Lack {
    /** A replica has no memory any more, or its server is dead. */
    LOST,
    /** A replica is to leave because its server goes, or because it has wrong bytes. */
    LEAVING,
    /** There are fewer replicas than wanted. */
    MISSING,
    /** Nothing is wrong, but a replica would be better at another server. */
    MOVING,
    NOTHING
  }

  /**
   * The condition of one slab.
   *
   * @param leaving server whose replica is to be replaced, one of several maybe; 0 when one more is
   *     to be added
   * @param living replicas that are not lost
   */
  record Condition(Lack lack, int leaving, int living) {}

  private final StateMachine machine;
  private final ServerWatch watch;
  private final SlabLeases leases;
  private final Set<Replica> damaged = new HashSet<>();
  private Replica moving = Replica.getDefaultInstance(); // at no server: none moves

  SlabConditions(StateMachine machine, ServerWatch watch, SlabLeases leases) {
    this.machine = machine;
    this.watch = watch;
    this.leases = leases;
  }

  Condition of(Slab slab) {
    int lost = 0;
    int leaving = 0;
    int living = 0;
    for (Replica replica : slab.getReplicasList()) {
      if (isLost(replica)) {
        lost = lost == 0 ? replica.getServer() : lost;
        continue;
      }
      living++;
      if (leaving == 0 && isLeaving(replica)) {
        leaving = replica.getServer();
      }
    }
    if (lost != 0) {
      return new Condition(Lack.LOST, lost, living);
    }
    if (leaving != 0) {
      return new Condition(Lack.LEAVING, leaving, living);
    }
    if (slab.getReplicasCount() < slab.getWanted()) {
      return new Condition(Lack.MISSING, 0, living);
    }
    return slab.getReplicasList().contains(moving)
        ? new Condition(Lack.MOVING, moving.getServer(), living)
        : new Condition(Lack.NOTHING, 0, living);
  }

  /**
   * The servers whose replicas of {@code slab} are lost, and then those whose are to leave; 0 alone
   * when there are none, so that one more is to be added.
   */
  List<Integer> leaving(Slab slab) {
    List<Integer> servers = new ArrayList<>();
    slab.getReplicasList().stream()
        .filter(this::isLost)
        .forEach(each -> servers.add(each.getServer()));
    slab.getReplicasList().stream()
        .filter(each -> !isLost(each) && isLeaving(each))
        .forEach(each -> servers.add(each.getServer()));
    return servers.isEmpty() ? List.of(0) : servers;
  }

  private boolean isLost(Replica replica) {
    return leases.isLost(replica) || watch.deadForNs(replica.getServer()) >= CLOSING_NS;
  }

  private boolean isLeaving(Replica replica) {
    ServerEntry entry = watch.entry(replica.getServer());
    return damaged.contains(replica)
        || (entry != null
            && (entry.getState() == ServerEntry.State.DECOMMISSIONING
                || entry.getState() == ServerEntry.State.DECOMMISSIONED));
  }

  /**
   * Whether the slab can go because nothing is in it. What still rests there does not count where a
   * replica is at a server that is LOST: nobody knows when that will answer.
   */
  boolean isEmpty(Slab slab) {
    return machine.slabs().isWhollyFree(slab.getId())
        || (slab.getReplicasList().stream().anyMatch(each -> watch.isGone(each.getServer()))
            && machine.isUnused(slab.getId()));
  }

  /** Whether all replicas are there, for all that is known. */
  boolean isIntact(Slab slab) {
    return slab.getReplicasList().stream().allMatch(leases::isIntact);
  }

  /**
   * The replicas to copy from: those that are there, another first for each slab, so that all
   * servers are read, and the ones with wrong bytes last.
   */
  List<Replica> sources(Slab slab) {
    List<Replica> sources = new ArrayList<>();
    List<Replica> last = new ArrayList<>();
    for (Replica replica : slab.getReplicasList()) {
      if (leases.isIntact(replica)) {
        (damaged.contains(replica) ? last : sources).add(replica);
      }
    }
    Collections.rotate(sources, (int) (slab.getId() % Math.max(1, sources.size())));
    sources.addAll(last);
    return sources;
  }

  /**
   * The replica of {@code slab} at {@code server} has wrong bytes. It is replaced, by one under
   * another lease: bytes that are stored in it again could come late, after its extents were
   * granted anew. The only replica of a slab stays, because its bytes are nowhere else.
   */
  void damaged(Slab slab, int server) {
    damaged.removeIf(replica -> !isPresent(replica));
    for (Replica replica : slab.getReplicasList()) {
      if (replica.getServer() == server
          && slab.getReplicasCount() > 1
          && damaged.size() < DAMAGED_MAX) {
        damaged.add(replica);
      }
    }
  }

  /** Whether it was not replaced, and its slab did not go. */
  boolean isPresent(Replica replica) {
    Slab slab = machine.slabs().at(replica);
    return slab != null && slab.getReplicasList().contains(replica);
  }

  /** {@code replica} is to move to another server; no other one moves meanwhile. */
  void move(Replica replica) {
    moving = replica;
  }

  /** No replica of {@code slab} is to move any more. */
  void stay(Slab slab) {
    if (slab.getReplicasList().contains(moving)) {
      moving = Replica.getDefaultInstance();
    }
  }

  /**
   * Forgets that replicas of {@code slab} have wrong bytes if all have that are there: what is
   * wrong in each of them cannot be copied.
   */
  void forgetDamageOfAll(Slab slab) {
    List<Replica> there = slab.getReplicasList().stream().filter(leases::isIntact).toList();
    if (damaged.containsAll(there)) {
      there.forEach(damaged::remove);
    }
  }
}
