package io.takofs.history;

import java.util.Locale;

/**
 * What a client asks of a namespace. A file is created without bytes, by one call, and has all its
 * bytes after another one: a write. Between the two others see it empty, rename and delete it.
 *
 * @param target of a rename, else empty
 * @param overwrite of a create and a rename: whether a file in its place is replaced
 * @param content of a create and a write: what the file has afterwards, from 1; no two creates have
 *     the same. Else 0
 * @param length bytes of that
 */
public record NamespaceCall(
    Action action, String path, String target, boolean overwrite, long content, long length) {

  /** A kind of call. */
  public enum Action {
    CREATE,
    WRITE,
    READ,
    STAT,
    DELETE,
    RENAME;

    /** Its name in a history. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public static NamespaceCall create(String path, boolean overwrite, long content, long length) {
    return new NamespaceCall(Action.CREATE, path, "", overwrite, content, length);
  }

  /** Of all bytes of a file that was created at {@code path}, wherever it is now. */
  public static NamespaceCall write(String path, long content, long length) {
    return new NamespaceCall(Action.WRITE, path, "", false, content, length);
  }

  public static NamespaceCall read(String path) {
    return new NamespaceCall(Action.READ, path, "", false, 0, 0);
  }

  public static NamespaceCall stat(String path) {
    return new NamespaceCall(Action.STAT, path, "", false, 0, 0);
  }

  public static NamespaceCall delete(String path) {
    return new NamespaceCall(Action.DELETE, path, "", false, 0, 0);
  }

  public static NamespaceCall rename(String path, String target, boolean overwrite) {
    return new NamespaceCall(Action.RENAME, path, target, overwrite, 0, 0);
  }

  boolean isQuery() {
    return action == Action.READ || action == Action.STAT;
  }

  boolean hasContent() {
    return action == Action.CREATE || action == Action.WRITE;
  }

  @Override
  public String toString() {
    return action.word()
        + " "
        + path
        + (action == Action.RENAME ? " to " + target : "")
        + (overwrite ? ", replacing" : "")
        + (hasContent() ? " (content " + content + ", " + length + " bytes)" : "");
  }
}
