package io.takofs.sim.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** What a user does with, by chance. */
final class SimChoices {
  private static final int BYTES_MAX = 200_000;

  private final Random random;
  private int names;

  SimChoices(Random random) {
    this.random = random;
  }

  /** The files, or the directories, of {@code tree}. */
  static List<String> paths(Map<String, byte[]> tree, boolean files) {
    List<String> paths = new ArrayList<>();
    tree.forEach(
        (path, content) -> {
          if ((content != null) == files) {
            paths.add(path);
          }
        });
    return paths;
  }

  String pick(List<String> paths) {
    return paths.get(random.nextInt(paths.size()));
  }

  /** A path that was never used, in {@code home} or in a directory below it. */
  String newPath(Map<String, byte[]> tree, String home) {
    List<String> parents = paths(tree, false);
    parents.add(home);
    return pick(parents) + "/n" + ++names;
  }

  byte[] content() {
    int bound = new int[] {1, 100, 2049, 4097, 70_000, BYTES_MAX}[random.nextInt(6)];
    byte[] content = new byte[random.nextInt(bound)];
    random.nextBytes(content);
    return content;
  }
}
