package io.takofs.server.slabs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * Chooses the servers of a new slab as Hadoop's default policy places the replicas of a block: the
 * writer's server, one in another rack, and another server of that second rack, so that a rack can
 * fail and at most two replicas share one. Where the racks do not suffice, replicas share them.
 *
 * <p>The other replicas of what begins at a server go to the same few servers, so that each shares
 * slabs with few others (its scatter width): the fewer sets of servers have all replicas of a slab,
 * the less likely it is that several which fail at once are such a set.
 *
 * <p>Thread rule: the owner of the group.
 */
final class SlabPlacement {
  /** Servers among which a replica is chosen that is not the first. */
  private static final int PARTNERS = 4;

  private final IntFunction<String> racks;

  /**
   * @param racks the rack of a server
   */
  SlabPlacement(IntFunction<String> racks) {
    this.racks = racks;
  }

  /**
   * Servers for so many replicas. Of those that are as good, and partners of the first, one that
   * has lent slabs already is taken, so that no more are leased than needed, then the one with the
   * largest free share.
   *
   * @param lending servers that can lend a slab, {@code count} at least, in order of number
   * @param near server that should be the first; 0 for any
   */
  List<SlabLender> choose(Collection<SlabLender> lending, int count, int near) {
    List<SlabLender> left = new ArrayList<>(lending);
    List<SlabLender> chosen = new ArrayList<>();
    while (chosen.size() < count) {
      ToIntFunction<SlabLender> rank =
          chosen.isEmpty() ? lender -> lender.server == near ? 0 : 1 : byRack(chosen);
      List<SlabLender> best = best(left, rank);
      SlabLender next =
          Collections.min(
              chosen.isEmpty() ? best : partners(best, chosen, lending),
              Comparator.comparing((SlabLender lender) -> lender.spare.isEmpty())
                  .thenComparing(lender -> -lender.freeShare())
                  .thenComparing(lender -> lender.server));
      left.remove(next);
      chosen.add(next);
    }
    return chosen;
  }

  private static List<SlabLender> best(List<SlabLender> lenders, ToIntFunction<SlabLender> rank) {
    int lowest = lenders.stream().mapToInt(rank).min().orElseThrow();
    return lenders.stream().filter(lender -> rank.applyAsInt(lender) == lowest).toList();
  }

  /**
   * A few of {@code best}, which are ordered by number: others for each server of the rack of the
   * one that they are partners of, so that all of them are used as much. That is the first chosen
   * one in their own rack, or else the first one.
   */
  private List<SlabLender> partners(
      List<SlabLender> best, List<SlabLender> chosen, Collection<SlabLender> lending) {
    String theirs = rack(best.get(0));
    SlabLender partner =
        chosen.stream().filter(each -> rack(each).equals(theirs)).findFirst().orElse(chosen.get(0));
    List<SlabLender> neighbours =
        lending.stream().filter(each -> rack(each).equals(rack(partner))).toList();
    int begin = neighbours.indexOf(partner) * best.size() / neighbours.size();
    return IntStream.range(begin, begin + Math.min(PARTNERS, best.size()))
        .mapToObj(at -> best.get(at % best.size()))
        .toList();
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
