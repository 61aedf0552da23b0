package io.takofs.jni;

import com.ibm.disni.verbs.RdmaProvider;
import java.io.IOException;
import java.util.Optional;

/**
 * Loads the library of the verbs transport, once, when first asked for it. It needs libibverbs and
 * librdmacm, so it is another file than {@link NativeLibrary}'s, which needs nothing.
 *
 * <p>It also is what DiSNI's classes mean by the library {@code disni}: they can be used once it is
 * loaded, and no flag of the JVM is needed for them. Only the first class loader of a JVM that
 * loads DiSNI can use it.
 *
 * <p>Thread rule: any thread.
 */
public final class VerbsLibrary {
  /** System property: the library's file, instead of the packed one. */
  public static final String PATH_PROPERTY = "io.takofs.verbs.path";

  private static final Optional<String> CAUSE =
      new PackedLibrary("libtako-verbs", PATH_PROPERTY, NativeControl::layoutHash)
          .load()
          .map(cause -> cause + " (packages libibverbs1 and librdmacm1 are needed too)")
          .or(VerbsLibrary::startDisni);

  private VerbsLibrary() {}

  /** Initializes DiSNI's native class here, where a failure is an answer and not an error. */
  private static Optional<String> startDisni() {
    try {
      RdmaProvider.provider();
      return Optional.empty();
    } catch (IOException | LinkageError e) {
      return Optional.of("DiSNI cannot be used: " + e.getMessage());
    }
  }

  public static boolean isAvailable() {
    return CAUSE.isEmpty();
  }

  /** Why the library could not be loaded, for a person; empty if it was. */
  public static Optional<String> unavailabilityCause() {
    return CAUSE;
  }
}
