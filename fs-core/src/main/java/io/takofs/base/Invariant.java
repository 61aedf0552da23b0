package io.takofs.base;

import java.util.function.Supplier;

/** Checks that stay on in production: a failed one is a bug and stops what must not go on. */
public final class Invariant {
  private Invariant() {}

  /** Fails with {@code what} unless {@code holds}. */
  public static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("broken invariant: " + what);
    }
  }

  /** Fails with what {@code what} says, unless {@code holds}. */
  public static void check(boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new IllegalStateException("broken invariant: " + what.get());
    }
  }
}
