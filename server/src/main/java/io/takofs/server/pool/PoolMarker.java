package io.takofs.server.pool;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The memory of a pool that is kept outside of it.
 *
 * @param pool its directory
 * @param id its identity, as 16 hexadecimal digits
 * @param fileSystem type of the file system that it is on, as the kernel names it
 * @param boot identity of the machine's or container's start during which a server last opened it
 * @param made when it was formatted, or first opened by a server that keeps markers
 */
record PoolMarker(Path pool, String id, String fileSystem, String boot, Instant made) {
  /** File systems that are memory, and empty after a boot. */
  private static final Set<String> VOLATILE = Set.of("tmpfs", "ramfs", "hugetlbfs");

  /** Whether a file system of this type is memory; of DAX its type does not tell. */
  static boolean isMemory(String fileSystem) {
    return VOLATILE.contains(fileSystem);
  }

  /** One line for each component; the path is last, for it may hold anything. */
  String text() {
    return """
        id %s
        filesystem %s
        boot %s
        made %s
        pool %s
        """
        .formatted(id, fileSystem, boot, made, pool);
  }

  /** The marker that {@link #text} gives; empty if {@code text} is none. */
  static Optional<PoolMarker> parse(String text) {
    Map<String, String> values = new HashMap<>();
    for (String line : text.split("\n", -1)) {
      int blank = line.indexOf(' ');
      if (blank > 0) {
        values.putIfAbsent(line.substring(0, blank), line.substring(blank + 1));
      }
    }
    if (!values.keySet().containsAll(Set.of("id", "filesystem", "boot", "made", "pool"))) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new PoolMarker(
              Path.of(values.get("pool")),
              values.get("id"),
              values.get("filesystem"),
              values.get("boot"),
              Instant.parse(values.get("made"))));
    } catch (DateTimeException | InvalidPathException e) {
      return Optional.empty();
    }
  }

  /**
   * Whether a boot explains that the pool is gone: it was in memory, there was one since, and what
   * is mounted there now is of the same kind.
   */
  boolean isExplainedByBoot(String fileSystemNow, String bootNow) {
    return isMemory(fileSystem) && fileSystem.equals(fileSystemNow) && !boot.equals(bootNow);
  }
}
