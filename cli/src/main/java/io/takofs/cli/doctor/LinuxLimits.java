package io.takofs.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The kernel limits of this process, read from /proc.
 *
 * <p>Thread rule: any thread.
 */
final class LinuxLimits {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path MEMORY = Path.of("/proc/meminfo");
  private static final Path MOUNTS = Path.of("/proc/self/mounts");
  private static final Path RELEASE = Path.of("/proc/sys/kernel/osrelease");

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

  /** The mount points of file systems of a type. */
  static List<String> mounts(String type) throws IOException {
    return Files.readAllLines(MOUNTS).stream()
        .map(line -> line.split(" ", -1))
        .filter(fields -> fields[2].equals(type))
        .map(fields -> fields[1])
        .toList();
  }

  /** Whether the running kernel has a module, loaded, built in or to be loaded. */
  static boolean hasModule(String name) throws IOException {
    if (Files.isDirectory(Path.of("/sys/module", name))) {
      return true;
    }
    Path modules = Path.of("/lib/modules", Files.readString(RELEASE).strip());
    for (String list : new String[] {"modules.dep", "modules.builtin"}) {
      Path file = modules.resolve(list);
      if (Files.isReadable(file)) {
        try (Stream<String> lines = Files.lines(file)) {
          if (lines.anyMatch(line -> line.contains("/" + name + ".ko"))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** The chosen word in a file of the kernel: {@code always [never]}; empty if none. */
  static String choice(Path file) throws IOException {
    if (!Files.isReadable(file)) {
      return "";
    }
    String text = Files.readString(file);
    return text.substring(text.indexOf('[') + 1, Math.max(text.indexOf(']'), 0));
  }

  /** The first word after {@code label} in a file of lines. */
  private static String field(Path file, String label) throws IOException {
    Optional<String> line =
        Files.readAllLines(file).stream().filter(each -> each.startsWith(label)).findFirst();
    if (line.isEmpty()) {
      throw new IOException(file + " has no line '" + label + "': this kernel is not known");
    }
    return line.get().substring(label.length()).strip().split("\\s+", 2)[0];
  }
}
