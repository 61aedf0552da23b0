package io.takofs.jni;

import java.util.Optional;

/**
 * Loads the native library, once, when first asked for it: the file that the system property
 * {@value #PATH_PROPERTY} names, or the one packed in the jar for this platform, extracted to the
 * first directory that allows it.
 *
 * <p>Without it everything but the shm transport works; {@link #unavailabilityCause} says why it is
 * missing.
 *
 * <p>Thread rule: any thread.
 */
public final class NativeLibrary {
  /** System property: the library's file, instead of the packed one. */
  public static final String PATH_PROPERTY = "io.takofs.native.path";

  /** System property: where to extract the packed library, instead of the usual places. */
  public static final String DIRECTORY_PROPERTY = "io.takofs.native.directory";

  private static final Optional<String> CAUSE =
      new PackedLibrary("libtako", PATH_PROPERTY, NativeCore::layoutHash).load();

  private NativeLibrary() {}

  public static boolean isAvailable() {
    return CAUSE.isEmpty();
  }

  /** Why the library could not be loaded, for a person; empty if it was. */
  public static Optional<String> unavailabilityCause() {
    return CAUSE;
  }
}
