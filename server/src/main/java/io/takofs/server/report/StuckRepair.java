package io.takofs.server.report;

import io.takofs.proto.RepairStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * Why repair cannot go on before somebody does something.
 *
 * @param problem what is wrong
 * @param advice what to do about it
 */
public record StuckRepair(String problem, String advice) {
  /** All reasons; none when repair goes on, or has nothing to do. */
  public static List<StuckRepair> of(RepairStatus repair) {
    List<StuckRepair> reasons = new ArrayList<>();
    if (repair.getSlabsWithoutServer() > 0) {
      reasons.add(
          new StuckRepair(
              waiting(repair.getSlabsWithoutServer())
                  + " for a server: each one that is up has a copy already, or leaves",
              "add a server, start those that are silent, or, where there is room for files of fewer"
                  + " copies, lower the replication of these (setrep)"));
    }
    if (repair.getSlabsWithoutRoom() > 0) {
      reasons.add(
          new StuckRepair(
              waiting(repair.getSlabsWithoutRoom())
                  + " for room: the servers that could have another copy are full",
              "delete files, or add a server"));
    }
    return reasons;
  }

  private static String waiting(long slabs) {
    return Counts.text(slabs, "slab waits", "slabs wait");
  }

  /** Both in one line. */
  public String sentence() {
    return problem + "; " + advice;
  }
}
