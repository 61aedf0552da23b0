package io.takofs.transport.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Resources that this process holds, and those that its devices hold for any process.
 *
 * @param device objects of each kind on all devices, as the kernel counts them
 * @param pinned this process's memory that devices hold on to, as the kernel says it
 * @param descriptors open files by what they are
 * @param threads of Tako, by name
 */
record HeldResources(
    String device, String pinned, TreeMap<String, Long> descriptors, List<String> threads) {

  static HeldResources now() throws IOException, InterruptedException {
    return new HeldResources(
        VerbsControlTest.resources(), pinnedMemory(), openDescriptors(), threadNames());
  }

  private static String pinnedMemory() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines.filter(line -> line.startsWith("VmPin:")).collect(Collectors.joining());
    }
  }

  private static TreeMap<String, Long> openDescriptors() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors
          .map(HeldResources::kind)
          .filter(kind -> !kind.endsWith(".jar")) // the JVM's, opened when first wanted
          .collect(Collectors.groupingBy(kind -> kind, TreeMap::new, Collectors.counting()));
    }
  }

  /** Sockets and pipes without their numbers. */
  private static String kind(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().replaceAll("\\d+", "#");
    } catch (IOException e) {
      return "closed while it was looked at";
    }
  }

  private static List<String> threadNames() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("tako-"))
        .sorted()
        .toList();
  }
}
