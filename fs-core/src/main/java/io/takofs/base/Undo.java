package io.takofs.base;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The parts that a method has made so far of a whole. Unless {@link #keep} is called at the end,
 * leaving the try block closes them, last made first: after any failure, {@link Error}s such as a
 * thread that cannot be started included.
 *
 * <pre>{@code
 * try (Undo undo = new Undo()) {
 *   Selector selector = undo.add(Selector.open());
 *   undo.add(() -> Files.delete(path));
 *   ...
 *   undo.keep();
 * }
 * }</pre>
 *
 * <p>Thread rule: one thread.
 */
public final class Undo implements AutoCloseable {
  private final Deque<AutoCloseable> made = new ArrayDeque<>();

  /** Closes {@code part}, or runs it if it is a lambda expression, unless the whole is kept. */
  public <T extends AutoCloseable> T add(T part) {
    made.push(part);
    return part;
  }

  /** The whole is made: nothing is closed. */
  public void keep() {
    made.clear();
  }

  /**
   * Closes what is not kept, each part even if another fails.
   *
   * @throws IllegalStateException with the failures of parts; a try statement adds it to the
   *     failure that it leaves with
   */
  @Override
  public void close() {
    IllegalStateException failed = null;
    while (!made.isEmpty()) {
      try {
        made.pop().close();
      } catch (Exception | Error e) { // as AutoCloseable declares it
        if (failed == null) {
          failed = new IllegalStateException("what was made in part could not be undone", e);
        } else {
          failed.addSuppressed(e);
        }
      }
    }
    if (failed != null) {
      throw failed;
    }
  }
}
