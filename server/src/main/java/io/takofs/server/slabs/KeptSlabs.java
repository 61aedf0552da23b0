package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Slab;
import io.takofs.server.namespace.StateMachine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Sees that servers keep slabs that they can lend to writers, as many as their reserve for repair,
 * while much is free in those that they have lent. When a server falls silent, nobody writes in
 * slabs with a copy there, and what is deleted in them does not become free: then writers need new
 * slabs of the others at once. Wholly free slabs go back to their servers; where there are none,
 * {@link Compaction} empties one.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class KeptSlabs {
  private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);

  /** Slabs go back while one in so many bytes of the servers is free in slabs of their kind. */
  private static final int FREE_OF = 8;

  private final Clock clock;
  private final StateMachine machine;
  private final SlabSupply supply;
  private long lookedNs;

  public KeptSlabs(Clock clock, StateMachine machine, SlabSupply supply) {
    this.clock = clock;
    this.machine = machine;
    this.supply = supply;
    this.lookedNs = clock.nanoTime();
  }

  /**
   * Does what is due.
   *
   * @throws TakoException when the log takes no entry
   */
  public void tick() throws TakoException {
    long now = clock.nanoTime();
    if (now - lookedNs >= LOOK_NS) {
      lookedNs = now;
      Map<Integer, Long> lacking = new HashMap<>(supply.lackingKept());
      if (isAnyLacking(lacking)) {
        look(lacking);
      }
    }
  }

  private static boolean isAnyLacking(Map<Integer, Long> lacking) {
    return lacking.values().stream().anyMatch(slabs -> slabs > 0);
  }

  private void look(Map<Integer, Long> lacking) throws TakoException {
    int roomy = 0; // the kind of an open slab that could be emptied
    for (Slab slab : List.copyOf(machine.slabs().all())) {
      boolean helps =
          !slab.getClosed()
              && slab.getReplicasList().stream()
                  .anyMatch(each -> lacking.getOrDefault(each.getServer(), 0L) > 0);
      if (helps && isMuchFreeWithout(slab)) {
        if (!machine.slabs().isWhollyFree(slab.getId())) {
          roomy = slab.getWanted();
        } else if (supply.giveUp(slab)) {
          slab.getReplicasList()
              .forEach(each -> lacking.computeIfPresent(each.getServer(), (id, n) -> n - 1));
        }
      }
    }
    if (roomy != 0 && isAnyLacking(lacking)) {
      supply.noteKept(roomy);
    }
  }

  private boolean isMuchFreeWithout(Slab slab) {
    long bytes = (long) (slab.getEndUnit() - slab.getFirstUnit()) * Layout.UNIT_SIZE;
    long free = machine.freeBytes(slab.getWanted(), Set.of()) - bytes;
    return free >= Layout.SLAB_SIZE
        && free * slab.getReplicasCount() >= supply.usage().getCapacity() / FREE_OF;
  }
}
