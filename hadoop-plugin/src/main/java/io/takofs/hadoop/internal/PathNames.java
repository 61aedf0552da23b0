package io.takofs.hadoop.internal;

import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.fs.Path;

/** From Hadoop's paths to the server's. */
public final class PathNames {
  private PathNames() {}

  /**
   * The server's name of {@code path}.
   *
   * @param path absolute; its scheme and authority were checked
   * @throws InvalidPathException when an element is one that Hadoop forbids
   */
  public static String of(Path path) {
    String name = text(path);
    if (name.contains("/.") || name.indexOf(':') >= 0) {
      checkElements(name);
    }
    return name.isEmpty() ? "/" : name;
  }

  private static void checkElements(String name) {
    for (String element : name.split("/", -1)) {
      if (element.equals(".") || element.equals("..") || element.indexOf(':') >= 0) {
        throw new InvalidPathException(
            name, "'" + element + "' cannot be a name: '.', '..' and ':' are reserved");
      }
    }
  }

  /**
   * The path alone, empty for the root: one made of a URI may end with a slash, which says nothing.
   */
  static String text(Path path) {
    String text = path.toUri().getPath();
    return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
  }
}
