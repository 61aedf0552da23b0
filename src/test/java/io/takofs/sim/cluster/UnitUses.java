package io.takofs.sim.cluster;

import io.takofs.layout.Layout;
import io.takofs.proto.Slab;
import io.takofs.server.extent.SlabRange;
import java.util.HashMap;
import java.util.Map;

/** Who may store where: of each unit of each slab the extent that it is in, if it is in one. */
final class UnitUses {
  private final Map<Long, Use[]> uses = new HashMap<>(); // by slab

  /**
   * An extent that is not free.
   *
   * @param writer that may store there; 0 for none
   * @param lateWriter that may store there, too; 0 for none
   */
  record Use(String state, long writer, long lateWriter) {
    boolean mayStore(long client) {
      return client != 0 && (client == writer || client == lateWriter);
    }
  }

  /**
   * Those of {@code records}.
   *
   * @throws AssertionError unless I22 holds: a unit is in one extent, which is committed, granted,
   *     or in quarantine; and S1, S4: what is granted is in an open slab
   */
  static UnitUses of(StateRecords records) {
    UnitUses all = new UnitUses();
    records.slabs().keySet().forEach(id -> all.uses.put(id, new Use[SlabRange.SLAB_UNITS]));
    for (StateRecords.Held held : records.held()) {
      Slab slab = records.slabs().get(held.slab());
      Use use = new Use(held.granted() ? "granted" : "in quarantine", held.client(), 0);
      all.take(slab, held.unit(), held.units(), use);
      StateRules.check(
          !held.granted() || !slab.getClosed(), () -> "a grant in a closed slab", slab);
    }
    for (StateRecords.Committed one : records.committed()) {
      SlabRange range = one.extent().range();
      long writer = records.writers().getOrDefault(one.file(), 0L);
      Use use = new Use("committed", writer, one.extent().lateWriter());
      all.take(
          records.slabs().get(range.slab()),
          range.unit(),
          range.capacity() / Layout.UNIT_SIZE,
          use);
    }
    return all;
  }

  private void take(Slab slab, int unit, int units, Use use) {
    if (slab == null) {
      throw new AssertionError("an extent lies in a slab that is not there");
    }
    StateRules.check(
        unit >= slab.getFirstUnit() && unit + units <= slab.getEndUnit(),
        () -> "units " + unit + " and " + units + " after it are outside",
        slab);
    Use[] ofSlab = uses.get(slab.getId());
    for (int i = unit; i < unit + units; i++) {
      StateRules.check(ofSlab[i] == null, () -> "two extents have a unit of " + use, slab);
      ofSlab[i] = use;
    }
  }

  /** Of a unit of a slab; null when it is free. */
  Use at(long slab, int unit) {
    return uses.get(slab)[unit];
  }

  boolean isEmpty(long slab) {
    for (Use use : uses.get(slab)) {
      if (use != null) {
        return false;
      }
    }
    return true;
  }
}
