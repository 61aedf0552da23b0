package io.takofs.sim.cluster;

import io.takofs.client.PathStatus;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * I27: the length and the modification time of a file change with its data and never without; no
 * time runs backwards, whatever the clocks of servers do, and nobody here sets times.
 */
final class SimTimes {
  private final IdentityHashMap<byte[], PathStatus> ofContent = new IdentityHashMap<>();
  private final Map<Long, PathStatus> ofId = new HashMap<>();

  /**
   * Says what is wrong with the status of a file or directory; null when nothing is.
   *
   * @param content of the file: the same object until an operation began that may change the file's
   *     data; null for a directory
   */
  String problem(PathStatus status, byte[] content) {
    PathStatus last = ofId.put(status.id(), status);
    String problem = last == null ? null : runsBackwards(last, status);
    if (content != null && problem == null) {
      PathStatus same = ofContent.put(content, status);
      boolean changed =
          same != null
              && same.id() == status.id()
              && same.modificationTimeMs() != status.modificationTimeMs();
      problem =
          status.length() != content.length
              ? "has the length " + status.length() + " with " + content.length + " bytes"
              : changed ? "was modified and has the same data: " + same : null;
    }
    return problem == null ? null : status.path() + " " + problem + ": " + status;
  }

  /** Says what is wrong with a status of an inode after an earlier one; null when nothing is. */
  static String runsBackwards(PathStatus last, PathStatus status) {
    boolean sameData = last.length() == status.length() || status.directory();
    boolean sameTime = last.modificationTimeMs() == status.modificationTimeMs();
    if (status.accessTimeMs() != last.accessTimeMs()) {
      return "was accessed at another time than " + last;
    }
    if (status.modificationTimeMs() < last.modificationTimeMs()) {
      return "was modified before " + last;
    }
    boolean sameVersion = !status.directory() && status.version() == last.version();
    return sameVersion && !(sameData && sameTime) ? "has the version of " + last : null;
  }
}
