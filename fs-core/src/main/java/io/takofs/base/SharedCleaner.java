package io.takofs.base;

import java.lang.ref.Cleaner;

/** The one thread of this process that cleans up after what is garbage; actions never wait. */
public final class SharedCleaner {
  private static final Cleaner CLEANER = Cleaner.create();

  private SharedCleaner() {}

  /**
   * Runs {@code action}, which must not reach {@code object}, once: when the object cannot be
   * reached any more, or when asked to.
   */
  public static Cleaner.Cleanable register(Object object, Runnable action) {
    return CLEANER.register(object, action);
  }
}
