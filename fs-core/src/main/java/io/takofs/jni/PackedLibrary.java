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
import java.util.function.LongSupplier;

/**
 * One of our native libraries: the file that a system property names, or the one packed in the jar
 * for this platform, extracted to the first directory that allows it.
 *
 * <p>Thread rule: one thread.
 *
 * @param name of the file, without platform and ending
 * @param pathProperty system property that names a file to load instead
 * @param layoutHash a native of the library: the layout hash it was compiled with
 */
record PackedLibrary(String name, String pathProperty, LongSupplier layoutHash) {
  /** Loads it; why that was impossible, for a person, or empty. */
  Optional<String> load() {
    String path = System.getProperty(pathProperty);
    try {
      return path == null ? loadPacked() : tryLoad(Path.of(path).toAbsolutePath());
    } catch (IOException | RuntimeException e) {
      return Optional.of("the native library could not be loaded: " + e);
    }
  }

  private Optional<String> loadPacked() throws IOException {
    String resource =
        resourceName(name, System.getProperty("os.name"), System.getProperty("os.arch"));
    byte[] content;
    try (InputStream in = PackedLibrary.class.getResourceAsStream("/" + resource)) {
      if (in == null) {
        return Optional.of("no native library for this platform is on the class path: " + resource);
      }
      content = in.readAllBytes();
    }
    List<String> causes = new ArrayList<>();
    for (Path directory : extractionDirectories()) {
      Optional<String> cause = extractAndLoad(content, directory);
      if (cause.isEmpty() || lacksAnother(cause.get())) {
        return cause;
      }
      causes.add(cause.get());
    }
    return Optional.of(
        String.join("; ", causes)
            + "; set -D"
            + NativeLibrary.DIRECTORY_PROPERTY
            + " to a directory that allows execution");
  }

  private Optional<String> extractAndLoad(byte[] content, Path directory) {
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

  private Optional<String> tryLoad(Path file) {
    try {
      System.load(file.toString());
    } catch (LinkageError e) {
      return Optional.of(file + ": " + e.getMessage());
    }
    long hash = layoutHash.getAsLong();
    if (hash != Layout.LAYOUT_HASH) {
      return Optional.of(
          String.format(
              "%s was built for memory layout %016x, this jar has %016x: use the library of the"
                  + " same build",
              file, hash, Layout.LAYOUT_HASH));
    }
    return Optional.empty();
  }

  /** The dynamic linker's words for a library that ours needs; no other directory helps then. */
  private static boolean lacksAnother(String cause) {
    return cause.contains("cannot open shared object file");
  }

  /** The packed path of the library for an operating system and architecture, in Java's words. */
  static String resourceName(String name, String os, String arch) {
    String machine = arch.equals("amd64") ? "x86_64" : arch;
    return "META-INF/native/" + name + "-" + os.toLowerCase(Locale.ROOT) + "-" + machine + ".so";
  }

  /**
   * /tmp is mounted noexec on some hosts; /dev/shm and the home directory rarely are, all never.
   */
  private static List<Path> extractionDirectories() {
    String chosen = System.getProperty(NativeLibrary.DIRECTORY_PROPERTY);
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
