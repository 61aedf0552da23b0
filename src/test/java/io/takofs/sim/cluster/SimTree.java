package io.takofs.sim.cluster;

import io.takofs.base.TakoException;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** The tree that a simulated user finds in its directory. */
final class SimTree {
  private final TakoClient client;
  private final String home;
  private final SimServer leader;
  private final Function<String, AssertionError> wrong;
  private final List<PathStatus> statuses = new ArrayList<>();

  /**
   * @param wrong makes the error that says what was found
   */
  SimTree(
      TakoClient client, String home, SimServer leader, Function<String, AssertionError> wrong) {
    this.client = client;
    this.home = home;
    this.leader = leader;
    this.wrong = wrong;
  }

  /** Of all that {@link #read} has read, before that. */
  List<PathStatus> statuses() {
    return statuses;
  }

  /** Whether {@code found} is {@code model} without the first few of {@code deleting}. */
  static boolean isPartlyDeleted(
      Map<String, byte[]> found, Map<String, byte[]> model, List<String> deleting) {
    TreeMap<String, byte[]> left = new TreeMap<>(model);
    for (String path : deleting) {
      left.remove(path);
      if (difference(found, left) == null) {
        return true;
      }
    }
    return false;
  }

  boolean exists(String path) throws IOException {
    try {
      client.getStatus(path);
      return true;
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Paths below home: contents of files, null for directories.
   *
   * @param damaged gets the files that fail their checksums, which are not in the result; null when
   *     there must be none
   */
  Map<String, byte[]> read(Set<String> damaged) throws IOException {
    Map<String, byte[]> tree = new TreeMap<>();
    readDirectory(home, tree, damaged);
    return tree;
  }

  private void readDirectory(String directory, Map<String, byte[]> tree, Set<String> damaged)
      throws IOException {
    DirectoryIterator entries = client.list(directory);
    while (entries.hasNext()) {
      PathStatus entry = entries.next();
      statuses.add(entry);
      if (entry.directory()) {
        tree.put(entry.path(), null);
        readDirectory(entry.path(), tree, damaged);
      } else {
        readFile(entry, tree, damaged);
      }
    }
  }

  private void readFile(PathStatus file, Map<String, byte[]> tree, Set<String> damaged)
      throws IOException {
    byte[] content = new byte[Math.toIntExact(file.length())];
    try (TakoInputStream in = client.open(file.path())) {
      if (in.length() != file.length()) {
        throw wrong.apply(file.path() + " changed its length from " + file.length());
      }
      in.readFully(0, content, 0, content.length);
    } catch (TakoException e) {
      if (e.status() != Status.CORRUPT || damaged == null || !leader.leads()) {
        throw e;
      }
      checkDamaged(file.id(), e);
      damaged.add(file.path());
      return;
    }
    tree.put(file.path(), content);
  }

  /**
   * I25, I26: a reader may be told that a file is damaged when no copy of some extent is intact.
   * Nothing is known while nobody leads.
   */
  void checkDamaged(long file, TakoException told) {
    if (leader.leads() && leader.isWhole(file)) {
      throw wrong.apply("intact copies of file " + Long.toHexString(file) + " are there: " + told);
    }
  }

  /** Returns the difference between the trees; null when there is none. */
  static String difference(Map<String, byte[]> found, Map<String, byte[]> expected) {
    if (!found.keySet().equals(expected.keySet())) {
      return "found " + found.keySet() + ", expected " + expected.keySet();
    }
    for (Map.Entry<String, byte[]> entry : found.entrySet()) {
      byte[] right = expected.get(entry.getKey());
      if (!Arrays.equals(entry.getValue(), right)) {
        return entry.getKey()
            + " has "
            + length(entry.getValue())
            + ", expected "
            + length(right)
            + ", first difference at "
            + (right == null || entry.getValue() == null
                ? 0
                : Arrays.mismatch(entry.getValue(), right));
      }
    }
    return null;
  }

  private static String length(byte[] content) {
    return content == null ? "no content" : content.length + " bytes";
  }
}
