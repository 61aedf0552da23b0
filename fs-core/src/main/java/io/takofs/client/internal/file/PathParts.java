package io.takofs.client.internal.file;

/** The two parts of an absolute path: its parent and its last element. */
public final class PathParts {
  private PathParts() {}

  /** Parent of an absolute path; empty for the root. */
  public static String parentOf(String path) {
    int end = path.lastIndexOf('/');
    return end > 0 || path.length() == 1 ? path.substring(0, end) : "/";
  }

  /** Last element of a path; empty for the root. */
  public static String nameOf(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
