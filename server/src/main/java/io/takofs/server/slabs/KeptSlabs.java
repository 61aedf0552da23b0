package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Slab;
import io.takofs.server.namespace.StateMachine;
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

  /** Slabs that one look returns at most. */
  private static final int RETURN_MAX = 4;

  private final Clock clock;
  private final StateMachine machine;
  private final SlabSupply supply;
  private final ServerWatch watch;
  private long lookedNs;

  public KeptSlabs(Clock clock, StateMachine machine, SlabSupply supply, ServerWatch watch) {
    this.clock = clock;
    this.machine = machine;
    this.supply = supply;
    this.watch = watch;
    this.lookedNs = clock.nanoTime();
  }

  /** Does what is due, while all servers are there and none has to answer. */
  public void tick() {
    long now = clock.nanoTime();
    if (now - lookedNs < LOOK_NS) {
      return;
    }
    lookedNs = now;
    Map<Integer, Long> lacking = supply.lackingKept();
    if (isAnyLacking(lacking)
        && !supply.isAsking()
        && watch.avoided(0, machine.slabs().servers()).isEmpty()) {
      supply.makeAhead(() -> look(lacking));
    }
  }

  private static boolean isAnyLacking(Map<Integer, Long> lacking) {
    return lacking.values().stream().anyMatch(slabs -> slabs > 0);
  }

  private void look(Map<Integer, Long> lacking) throws TakoException {
    int roomy = 0; // the kind of an open slab that could be emptied
    int returned = 0;
    for (Slab slab : List.copyOf(machine.slabs().all())) {
      boolean helps =
          !slab.getClosed()
              && slab.getReplicasList().stream()
                  .anyMatch(each -> lacking.getOrDefault(each.getServer(), 0L) > 0);
      if (helps && supply.mayGo(slab, machine.freeBytes(slab.getWanted(), Set.of()))) {
        if (!machine.slabs().isWhollyFree(slab.getId())) {
          roomy = slab.getWanted();
        } else if (supply.giveUp(slab)) {
          slab.getReplicasList()
              .forEach(each -> lacking.computeIfPresent(each.getServer(), (id, n) -> n - 1));
          returned++;
        }
      }
      if (returned == RETURN_MAX) {
        return; // the next look goes on
      }
    }
    if (roomy != 0 && returned == 0) {
      supply.noteKept(roomy);
    }
  }
}
