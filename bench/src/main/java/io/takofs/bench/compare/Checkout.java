package io.takofs.bench.compare;

import io.takofs.hadoop.TakoFileSystem;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * A built checkout of Tako, and the servers that run from it. Its clients are of its own plug-in
 * jar, which a class loader of their own keeps apart from those of other checkouts.
 *
 * <p>Thread rule: one thread.
 */
final class Checkout implements AutoCloseable {
  private final URI uri;
  private final List<Long> pids;
  private final PluginLoader loader;

  private Checkout(Path plugin, Path state) throws IOException {
    uri = URI.create(Files.readString(state.resolve("uri")).strip());
    pids = pids(state);
    loader = new PluginLoader(plugin);
  }

  /** The one whose plug-in is on the class path; its {@code tako dev} runs in {@code state}. */
  static Checkout current(Path state) throws IOException {
    URL plugin = TakoFileSystem.class.getProtectionDomain().getCodeSource().getLocation();
    return new Checkout(Path.of(URI.create(plugin.toString())), state);
  }

  /**
   * Another one.
   *
   * @param root of the checkout
   * @param state directory of its {@code tako dev}, which runs
   * @throws IOException when the checkout is not built
   */
  static Checkout of(Path root, Path state) throws IOException {
    return new Checkout(plugin(root), state);
  }

  /** A client over {@code transport}, of this checkout's code. */
  FileSystem client(String transport) throws IOException {
    Configuration conf = new Configuration();
    conf.setClassLoader(loader);
    conf.set("fs.tako.impl", TakoFileSystem.class.getName());
    conf.set("fs.tako.transport", transport);
    return FileSystem.newInstance(uri, conf);
  }

  /** Process ids of the servers. */
  List<Long> pids() {
    return pids;
  }

  @Override
  public void close() throws IOException {
    loader.close();
  }

  /** A cluster's first server is in the directory itself, each of the others in one below it. */
  private static List<Long> pids(Path state) throws IOException {
    List<Long> pids = new ArrayList<>(List.of(pid(state)));
    try (DirectoryStream<Path> others = Files.newDirectoryStream(state, "server-*")) {
      for (Path other : others) {
        pids.add(pid(other));
      }
    }
    return List.copyOf(pids);
  }

  private static long pid(Path server) throws IOException {
    return Long.parseLong(Files.readString(server.resolve("pid")).strip());
  }

  private static Path plugin(Path root) throws IOException {
    Path directory = root.resolve("hadoop-plugin").resolve("target");
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> jars = Files.newDirectoryStream(directory, "tako-hadoop-*.jar")) {
        for (Path jar : jars) {
          return jar;
        }
      }
    }
    throw new IOException(
        "no tako-hadoop-*.jar in "
            + directory
            + ": build that checkout (mvn package -DskipTests there)");
  }

  /** Takes from the jar whatever is in it, and only then asks others. */
  private static final class PluginLoader extends URLClassLoader {
    PluginLoader(Path jar) throws IOException {
      super(new URL[] {jar.toUri().toURL()}, PluginLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
          return loaded;
        }
        if (findResource(name.replace('.', '/') + ".class") != null) {
          return findClass(name);
        }
      }
      return super.loadClass(name, resolve);
    }

    @Override
    public URL getResource(String name) {
      URL own = findResource(name);
      return own != null ? own : super.getResource(name);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      List<URL> all = new ArrayList<>(Collections.list(findResources(name)));
      all.addAll(Collections.list(getParent().getResources(name)));
      return Collections.enumeration(all);
    }
  }
}
