package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.proto.Replica;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Slab;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Chooses the servers that get new replicas.
 *
 * <p>Thread rule: the owner of the group.
 */
final class RepairTargets {
  /** Time for which a server is not asked again to copy a slab that it could not copy. */
  private static final long FAILED_NS = TimeUnit.MINUTES.toNanos(1);

  private record Failed(long slab, int server) {}

  private final Clock clock;
  private final SlabLeases leases;
  private final ServerWatch watch;
  private final Map<Failed, Long> failed = new HashMap<>(); // until when

  RepairTargets(Clock clock, SlabLeases leases, ServerWatch watch) {
    this.clock = clock;
    this.leases = leases;
    this.watch = watch;
  }

  /** {@code server} could not copy {@code slab}: another one tries first. */
  void failed(long slab, int server) {
    failed.values().removeIf(until -> clock.nanoTime() - until >= 0);
    failed.put(new Failed(slab, server), clock.nanoTime() + FAILED_NS);
  }

  /**
   * The servers that are best to get a replica of {@code slab}, those of which most is free first:
   * those in racks without one; where there are none, others; the server of the replica that leaves
   * only when there is no other. A worse one is not taken because a better one is busy.
   *
   * <p>None that a client reported is added to a slab that has lost nothing: the client, which gets
   * no grants there for a while, would leave the slab for a new one without that server, which
   * would get it likewise, and so on.
   *
   * @param leaving server of the replica that leaves; 0 when one is added
   */
  List<SlabLender> candidates(Slab slab, int leaving) {
    Set<String> racks = new HashSet<>();
    for (Replica replica : slab.getReplicasList()) {
      ServerEntry entry = watch.entry(replica.getServer());
      if (entry != null && replica.getServer() != leaving) {
        racks.add(entry.getRack());
      }
    }
    List<SlabLender> candidates = new ArrayList<>();
    for (SlabLender lender : leases.lenders()) {
      if (mayGet(lender, slab, leaving) && hasRoom(lender, slab)) {
        candidates.add(lender);
      }
    }
    candidates.sort(
        Comparator.comparingDouble((SlabLender lender) -> -lender.freeShare())
            .thenComparing(lender -> lender.server));
    Map<Integer, List<SlabLender>> byRank =
        candidates.stream()
            .collect(
                Collectors.groupingBy(
                    lender -> rank(lender, leaving, racks), TreeMap::new, Collectors.toList()));
    return byRank.isEmpty() ? List.of() : byRank.values().iterator().next();
  }

  /** The servers that could get a replica of {@code slab} if they had room. */
  Set<Integer> full(Slab slab, int leaving) {
    return leases.lenders().stream()
        .filter(lender -> mayGet(lender, slab, leaving) && !hasRoom(lender, slab))
        .map(lender -> lender.server)
        .collect(Collectors.toSet());
  }

  /** Racks that would have a replica of {@code slab} if the one at {@code from} were at another. */
  long racks(Slab slab, int from, int to) {
    return slab.getReplicasList().stream()
        .map(replica -> watch.entry(replica.getServer() == from ? to : replica.getServer()))
        .filter(Objects::nonNull)
        .map(ServerEntry::getRack)
        .distinct()
        .count();
  }

  /** 0 for the best. */
  private int rank(SlabLender lender, int leaving, Set<String> racks) {
    if (lender.server == leaving) {
      return 2;
    }
    return racks.contains(watch.entry(lender.server).getRack()) ? 1 : 0;
  }

  /** Whether a server is up that has no other replica of {@code slab}, whatever it does now. */
  boolean hasOther(Slab slab, int leaving) {
    return leases.lenders().stream()
        .anyMatch(lender -> watch.isUsable(lender.server) && !keeps(lender.server, slab, leaving));
  }

  private boolean mayGet(SlabLender lender, Slab slab, int leaving) {
    Long until = failed.get(new Failed(slab.getId(), lender.server));
    return !keeps(lender.server, slab, leaving)
        && watch.isUsable(lender.server)
        && (leaving != 0 || !watch.isReported(lender.server))
        && lender.listed
        && (until == null || clock.nanoTime() - until >= 0);
  }

  /** Whether {@code server} has a replica of {@code slab} that stays. */
  private static boolean keeps(int server, Slab slab, int leaving) {
    return server != leaving
        && slab.getReplicasList().stream().anyMatch(replica -> replica.getServer() == server);
  }

  private static boolean hasRoom(SlabLender lender, Slab slab) {
    return !lender.exhausted
        || lender.spare.stream()
            .anyMatch(spare -> fits(spare.getFirstUnit(), spare.getEndUnit(), slab));
  }

  /** Whether a replica of {@code slab} has room in these units. */
  static boolean fits(int firstUnit, int endUnit, Slab slab) {
    return firstUnit <= slab.getFirstUnit() && endUnit >= slab.getEndUnit();
  }
}
