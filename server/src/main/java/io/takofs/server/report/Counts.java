package io.takofs.server.report;

import io.takofs.proto.ExtentStatus;
import io.takofs.proto.ServerStatus;
import java.time.Duration;

/** Figures of a server's status as people read them. */
public final class Counts {
  private Counts() {}

  /** Such as {@code 1 file} and {@code 2 files}. */
  public static String text(long count, String singular, String plural) {
    return count + " " + (count == 1 ? singular : plural);
  }

  /** Bytes that were deleted and may not be used again yet. */
  public static long quarantineBytes(ServerStatus status) {
    return status.getExtentsList().stream()
        .filter(each -> each.getState().equals("quarantine"))
        .mapToLong(ExtentStatus::getBytes)
        .sum();
  }

  /** When the last checkpoint was made, such as {@code 00:01:05 ago}. */
  public static String checkpointAge(ServerStatus status) {
    if (status.getCheckpoint().getMade() == 0) {
      return status.getCheckpointIndex() == 0 ? "none yet" : "before the server started";
    }
    return Spans.clock(Duration.ofMillis(status.getCheckpoint().getAgeMs())) + " ago";
  }
}
