package io.takofs.sim.cluster;

import io.takofs.client.PathStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What must be in a user's directory: before the operation that is under way, and after it. What is
 * found must be one of the two, or something between them that the operation may leave.
 */
final class SimModel {
  /** Paths below home: contents of files, null for directories. */
  private Map<String, byte[]> before = new TreeMap<>();

  /** The contents that may be there instead, while an operation is under way. */
  private Map<String, byte[]> after;

  /** Every content that a file was ever meant to have. */
  private final List<byte[]> written = new ArrayList<>(List.of(new byte[0]));

  /** The file being written: of its content in {@code after}, at least this is there. */
  private String writing = "";

  private int flushed;

  /** Names that one call is deleting, in order; some of the first may be gone already. */
  private List<String> deleting = List.of();

  private final SimTimes times = new SimTimes();

  Map<String, byte[]> tree() {
    return before;
  }

  /** The file being written; empty when there is none. */
  String writing() {
    return writing;
  }

  int flushed() {
    return flushed;
  }

  /** An operation begins that changes what is returned. */
  Map<String, byte[]> begin() {
    after = new TreeMap<>(before);
    return after;
  }

  /** {@code content} will be written to a file that has its first {@code there} bytes already. */
  void beginWriting(String path, byte[] content, int there) {
    begin().put(path, content);
    written.add(content);
    writing = path;
    flushed = there;
  }

  /** The file being written has so many bytes at least. */
  void flushedTo(int length) {
    flushed = length;
  }

  /** The writer gave up: of the file there is what was flushed. */
  void abortWriting() {
    after.put(writing, Arrays.copyOf(after.get(writing), flushed));
  }

  /** One call deletes these, in this order. */
  void beginDeleting(List<String> paths) {
    deleting = paths;
  }

  /** The operation is over and was done. */
  void settle() {
    if (after != null) {
      before = after;
    }
    forgetOperation();
  }

  /** The operation is over, and {@code found} is there. */
  void settle(Map<String, byte[]> found) {
    Map<String, byte[]> outcome = new TreeMap<>();
    found.forEach((path, content) -> outcome.put(path, known(path, content)));
    before = outcome;
    forgetOperation();
  }

  /** The content as the model had it, if the operation can not have changed the file. */
  private byte[] known(String path, byte[] found) {
    byte[] known = after == null ? before.get(path) : after.get(path);
    boolean unchanged = before.values().stream().anyMatch(content -> content == known);
    return unchanged && Arrays.equals(known, found) ? known : found;
  }

  private void forgetOperation() {
    after = null;
    writing = "";
    flushed = 0;
    deleting = List.of();
  }

  /** The file is gone, whatever is under way. */
  void forget(String path) {
    before.remove(path);
    if (after != null) {
      after.remove(path);
    }
    if (path.equals(writing)) {
      writing = "";
      flushed = 0;
    }
  }

  /**
   * Says what is wrong with the status of a file or directory while no operation is under way; null
   * when nothing is.
   */
  String problem(PathStatus status) {
    return times.problem(status, before.get(status.path()));
  }

  /** What is wrong with {@code found} when it is not known how far the operation came; or null. */
  String problem(Map<String, byte[]> found) {
    String wrongBefore = SimTree.difference(found, before);
    String wrongAfter = after == null ? wrongBefore : SimTree.difference(found, after);
    if (wrongBefore != null
        && wrongAfter != null
        && !isPartlyWritten(found)
        && !SimTree.isPartlyDeleted(found, before, deleting)) {
      return "after a failure neither the state before it is there ("
          + wrongBefore
          + ") nor the one after it ("
          + wrongAfter
          + ")";
    }
    return flushed > 0 && !isPartlyWritten(found)
        ? "flushed bytes of " + writing + " are lost"
        : null;
  }

  private boolean isPartlyWritten(Map<String, byte[]> found) {
    byte[] content = found.get(writing);
    if (writing.isEmpty() || content == null) {
      return false;
    }
    byte[] whole = after.get(writing);
    TreeMap<String, byte[]> others = new TreeMap<>(after);
    others.put(writing, content);
    return content.length >= flushed
        && content.length <= whole.length
        && Arrays.equals(content, Arrays.copyOf(whole, content.length))
        && SimTree.difference(found, others) == null;
  }

  /** Whether some file was ever meant to begin with {@code content}. */
  boolean wasWritten(byte[] content) {
    return written.stream()
        .anyMatch(
            whole ->
                whole.length >= content.length
                    && Arrays.equals(whole, 0, content.length, content, 0, content.length));
  }
}
