package io.takofs.server.peer;

/**
 * Terms of a group's leaders: each has one of its own, and later ones are higher. The upper half
 * numbers the group's namespaces. A group has another one when its members lost their pools: it
 * begins empty, and what lies in slabs that it had before is not its own.
 */
public final class Terms {
  private Terms() {}

  /** Number of the namespace, from 0. */
  public static long namespace(long term) {
    return term >>> Integer.SIZE;
  }

  /** The first term after {@code term} in another namespace. */
  public static long nextNamespace(long term) {
    return (namespace(term) + 1) << Integer.SIZE;
  }
}
