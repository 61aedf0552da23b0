package io.takofs.server.report;

import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SpaceUsage;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Figures of a cluster's status as people read them. */
public final class Clusters {
  private static final double PERCENT = 100;

  private Clusters() {}

  /** Such as {@code decommissioning}. */
  public static String state(ServerEntry server) {
    return server.getState().name().toLowerCase(Locale.ROOT);
  }

  /** Such as {@code server 2} or {@code servers 2, 3}. */
  public static String names(List<Integer> servers) {
    return (servers.size() == 1 ? "server " : "servers ")
        + servers.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  /** Such as {@code 1.2 GiB (30 %)}. */
  public static String used(SpaceUsage usage) {
    double share = usage.getCapacity() == 0 ? 0 : (double) usage.getUsed() / usage.getCapacity();
    return Sizes.human(usage.getUsed()) + " (" + Math.round(PERCENT * share) + " %)";
  }

  /** Such as {@code , done in 00:01:05} at the present rate; empty when there is none. */
  public static String timeLeft(RepairStatus repair) {
    boolean isStuck =
        repair.getSlabsCopiedNow() == 0
            && repair.getSlabsWithoutServer() + repair.getSlabsWithoutRoom()
                >= repair.getSlabsWaiting();
    if (isStuck || repair.getBytesLeft() == 0 || repair.getBytesPerSecond() == 0) {
      return "";
    }
    long seconds = (repair.getBytesLeft() - 1) / repair.getBytesPerSecond() + 1;
    return ", done in " + Spans.clock(Duration.ofSeconds(seconds));
  }
}
