package io.takofs.server.report;

import io.takofs.proto.RepairStatus;
import java.util.ArrayList;
import java.util.List;

/** Why repair cannot go on before somebody does something. */
public final class StuckRepair {
  private StuckRepair() {}

  /**
   * All reasons, each with what to do about it after a semicolon; none when repair goes on, or has
   * nothing to do.
   */
  public static List<String> of(RepairStatus repair) {
    List<String> reasons = new ArrayList<>();
    if (repair.getSlabsWithoutServer() > 0) {
      reasons.add(
          waiting(repair.getSlabsWithoutServer())
              + " for a server: each one that is up has a copy already, or leaves; add a server,"
              + " start those that are silent, or, where there is room for files of fewer copies,"
              + " lower the replication of these (setrep)");
    }
    if (repair.getSlabsWithoutRoom() > 0) {
      reasons.add(
          waiting(repair.getSlabsWithoutRoom())
              + " for room: the servers that could have another copy are full; delete files, or add"
              + " a server");
    }
    return reasons;
  }

  private static String waiting(long slabs) {
    return Counts.text(slabs, "slab waits", "slabs wait");
  }
}
