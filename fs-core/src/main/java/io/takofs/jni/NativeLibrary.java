package io.takofs.jni;

import io.takofs.layout.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

  private static final Optional<String> CAUSE = load();

  private NativeLibrary() {}

  public static boolean isAvailable() {
    return CAUSE.isEmpty();
  }

  /** Why the library could not be loaded, for a person; empty if it was. */
  public static Optional<String> unavailabilityCause() {
    return CAUSE;
  }

  private static Optional<String> load() {
    String path = System.getProperty(PATH_PROPERTY);
    try {
      return path == null ? loadPacked() : tryLoad(Path.of(path).toAbsolutePath());
    } catch (IOException | RuntimeException e) {
      return Optional.of("the native library could not be loaded: " + e);
    }
  }

  private static Optional<String> loadPacked() throws IOException {
    String name = resourceName(System.getProperty("os.name"), System.getProperty("os.arch"));
    byte[] content;
    try (InputStream in = NativeLibrary.class.getResourceAsStream("/" + name)) {
      if (in == null) {
        return Optional.of("no native library for this platform is on the class path: " + name);
      }
      content = in.readAllBytes();
    }
    List<String> causes = new ArrayList<>();
    for (Path directory : extractionDirectories()) {
      Optional<String> cause = extractAndLoad(content, directory);
      if (cause.isEmpty()) {
        return cause;
      }
      causes.add(cause.get());
    }
    return Optional.of(
        String.join("; ", causes)
            + "; set -D"
            + DIRECTORY_PROPERTY
            + " to a directory that allows execution");
  }

  private static Optional<String> extractAndLoad(byte[] content, Path directory) {
    try {
      Optional<String> cause = tryLoad(ExtractedFile.shared(directory, content));
      if (cause.isPresent() && cause.get().contains("already loaded in another classloader")) {
        // The JVM loads a file for one class loader only; another one needs a file of its own.
        return tryLoad(ExtractedFile.single(directory, content));
      }
      return cause;
    } catch (IOException e) {
      return Optional.of(directory + ": " + e);
    }
  }

  private static Optional<String> tryLoad(Path file) {
    try {
      System.load(file.toString());
    } catch (LinkageError e) {
      return Optional.of(file + ": " + e.getMessage());
    }
    if (NativeCore.layoutHash() != Layout.LAYOUT_HASH) {
      return Optional.of(
          String.format(
              "%s was built for memory layout %016x, this jar has %016x: use the library of the"
                  + " same build",
              file, NativeCore.layoutHash(), Layout.LAYOUT_HASH));
    }
    return Optional.empty();
  }

  /** Where the library for an operating system and architecture (in Java's words) is packed. */
  static String resourceName(String os, String arch) {
    String machine = arch.equals("amd64") ? "x86_64" : arch;
    return "META-INF/native/libtako-" + os.toLowerCase(Locale.ROOT) + "-" + machine + ".so";
  }

  /**
   * /tmp is mounted noexec on some hosts; /dev/shm and the home directory rarely are, all never.
   */
  private static List<Path> extractionDirectories() {
    String chosen = System.getProperty(DIRECTORY_PROPERTY);
    if (chosen != null) {
      return List.of(Path.of(chosen).toAbsolutePath());
    }
    List<Path> directories = new ArrayList<>();
    directories.add(Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath());
    for (Path directory :
        List.of(Path.of("/dev/shm"), Path.of(System.getProperty("user.home"), ".cache"))) {
      if (Files.isDirectory(directory)) {
        directories.add(directory);
      }
    }
    return directories;
  }
}
