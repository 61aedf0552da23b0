package io.takofs.bench.clusters;

import io.takofs.proto.ClusterStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.SlabStatus;
import java.io.IOException;

/**
 * Asks a cluster again and again how its repair goes. A time is that of the last answer before
 * something began, and of the first one after it ended: what is between two answers counts against
 * the repair.
 *
 * <p>Thread rule: one thread.
 */
final class RepairWatch {
  private static final long POLL_MS = 20; // each status costs client and leader a millisecond

  /**
   * A repair from a server's death to full redundancy.
   *
   * @param bytes that were copied
   * @param detectedNs from the leader's first knowledge of lost copies
   * @param copyingNs from the first copy under way
   */
  record Repair(long bytes, long detectedNs, long copyingNs) {
    double mebibytes() {
      return (double) bytes / RepairFiles.MEBIBYTE;
    }
  }

  private final RepairFiles files;
  private final long timeoutNs;
  private long endsNs;

  /**
   * @param timeoutNs for all of a repair
   */
  RepairWatch(RepairFiles files, long timeoutNs) {
    this.files = files;
    this.timeoutNs = timeoutNs;
  }

  /**
   * Waits until all servers answer and nothing is copied, kills one, and waits for the end of the
   * repair.
   *
   * @param leastBytes that a repair must copy
   * @param detected runs when the leader knows of lost copies
   * @throws IOException when it takes too long, or when fewer bytes were copied: that measures
   *     something else
   */
  Repair of(Runnable kill, long leastBytes, Runnable detected)
      throws IOException, InterruptedException {
    endsNs = System.nanoTime() + timeoutNs;
    ClusterStatus status = files.status();
    while (!isWhole(status) || !status.getServersList().stream().allMatch(ServerHealth::getHeard)) {
      status = next(status);
    }
    long before = status.getRepair().getBytesDone();
    long lastNs = System.nanoTime();
    kill.run();
    long detectedNs = 0;
    long copyingNs = 0;
    while (copyingNs == 0 || !isWhole(status)) {
      status = next(status);
      RepairStatus repair = status.getRepair();
      boolean isCopying = repair.getSlabsCopiedNow() > 0 || repair.getBytesDone() > before;
      if (detectedNs == 0 && (isCopying || repair.getSlabsWaiting() > 0)) {
        detectedNs = lastNs;
        detected.run();
      }
      if (copyingNs == 0 && isCopying) {
        copyingNs = lastNs;
      }
      lastNs = System.nanoTime();
    }
    long bytes = status.getRepair().getBytesDone() - before;
    if (bytes < leastBytes) {
      throw new IOException(
          "a repair of %d bytes, fewer than %d, measures nothing; the cluster says:%n%s"
              .formatted(bytes, leastBytes, status));
    }
    return new Repair(bytes, lastNs - detectedNs, lastNs - copyingNs);
  }

  private ClusterStatus next(ClusterStatus last) throws IOException, InterruptedException {
    if (System.nanoTime() - endsNs > 0) {
      throw new IOException("the copies were not made in time; the cluster says:\n" + last);
    }
    Thread.sleep(POLL_MS);
    return files.status();
  }

  /** Whether no slab lacks a copy, or is closed. */
  private static boolean isWhole(ClusterStatus status) {
    RepairStatus repair = status.getRepair();
    return repair.getSlabsWaiting() == 0
        && repair.getSlabsCopiedNow() == 0
        && status.getSlabsList().stream()
            .filter(slabs -> !slabs.getState().equals("open"))
            .mapToLong(SlabStatus::getSlabs)
            .allMatch(slabs -> slabs == 0);
  }
}
