package io.takofs.server.slabs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;

/**
 * Chooses the servers of a new slab as Hadoop's default policy places the replicas of a block: the
 * writer's server, one in another rack, and another server of that second rack, so that a rack can
 * fail and at most two replicas share one. Where the racks do not suffice, replicas share them.
 *
 * <p>Thread rule: the owner of the group.
 */
final class SlabPlacement {
  private final IntFunction<String> racks;

  /**
   * @param racks the rack of a server
   */
  SlabPlacement(IntFunction<String> racks) {
    this.racks = racks;
  }

  /**
   * Servers for so many replicas. Of those that are as good, one that has lent slabs already is
   * taken, so that no more are leased than needed, then the one with the largest free share.
   *
   * @param lending servers that can lend a slab, {@code count} at least
   * @param near server that should be the first; 0 for any
   */
  List<SlabLender> choose(Collection<SlabLender> lending, int count, int near) {
    List<SlabLender> left = new ArrayList<>(lending);
    List<SlabLender> chosen = new ArrayList<>();
    while (chosen.size() < count) {
      ToIntFunction<SlabLender> rank =
          chosen.isEmpty() ? lender -> lender.server == near ? 0 : 1 : byRack(chosen);
      SlabLender next =
          Collections.min(
              left,
              Comparator.comparingInt(rank)
                  .thenComparing(lender -> lender.spare.isEmpty())
                  .thenComparing(lender -> -lender.freeShare())
                  .thenComparing(lender -> lender.server));
      left.remove(next);
      chosen.add(next);
    }
    return chosen;
  }

  /** Ranks servers by how many of {@code chosen} are in their racks; 0 for the best. */
  private ToIntFunction<SlabLender> byRack(List<SlabLender> chosen) {
    List<String> taken = chosen.stream().map(this::rack).toList();
    boolean isThird = taken.size() == 2 && !taken.get(0).equals(taken.get(1));
    return lender -> {
      String rack = rack(lender);
      boolean isBest = isThird ? rack.equals(taken.get(1)) : !taken.contains(rack);
      return isBest ? 0 : 1 + Collections.frequency(taken, rack);
    };
  }

  private String rack(SlabLender lender) {
    return racks.apply(lender.server);
  }
}
