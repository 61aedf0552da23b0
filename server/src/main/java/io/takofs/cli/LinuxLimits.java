package io.takofs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the kernel allows this process, as /proc says it.
 *
 * <p>Thread rule: any thread.
 */
final class LinuxLimits {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path MEMORY = Path.of("/proc/meminfo");

  /** Bit of CAP_IPC_LOCK in a set of capabilities: its holder may lock what it wants. */
  private static final int CAP_IPC_LOCK = 14;

  private static final int HEXADECIMAL = 16;
  private static final long KIB = 1024;

  private LinuxLimits() {}

  /** Bytes that this process may lock; empty for no limit. */
  static OptionalLong lockedMemory() throws IOException {
    String soft = field(LIMITS, "Max locked memory");
    return soft.equals("unlimited") ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(soft));
  }

  /** Whether the limit of locked memory does not hold for this process. */
  static boolean mayLockAnyMemory() throws IOException {
    long capabilities = Long.parseUnsignedLong(field(STATUS, "CapEff:"), HEXADECIMAL);
    return (capabilities >>> CAP_IPC_LOCK & 1) != 0;
  }

  /** Reserved huge pages that are free. */
  static long hugePagesFree() throws IOException {
    return Long.parseLong(field(MEMORY, "HugePages_Free:"));
  }

  /** Reserved huge pages. */
  static long hugePagesReserved() throws IOException {
    return Long.parseLong(field(MEMORY, "HugePages_Total:"));
  }

  /** Bytes of a huge page. */
  static long hugePageBytes() throws IOException {
    return Long.parseLong(field(MEMORY, "Hugepagesize:")) * KIB;
  }

  /** The first word behind {@code label} in a file of lines. */
  private static String field(Path file, String label) throws IOException {
    Optional<String> line =
        Files.readAllLines(file).stream().filter(each -> each.startsWith(label)).findFirst();
    if (line.isEmpty()) {
      throw new IOException(file + " has no line '" + label + "': this kernel is not known");
    }
    return line.get().substring(label.length()).strip().split("\\s+", 2)[0];
  }
}
