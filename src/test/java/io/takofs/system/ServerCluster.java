package io.takofs.system;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Data servers that form one cluster, each in a process of its own with a pool of its own. The
 * first has the namespace. One alone is no cluster: it is started as a lone server is.
 *
 * <p>Thread rule: one thread.
 */
public final class ServerCluster implements TestedFileSystem {
  private final Path directory;
  private final List<ServerProcess> servers = new ArrayList<>();
  private final List<String[]> later = new ArrayList<>(); // settings of servers not started yet

  private ServerCluster(Path directory) {
    this.directory = directory;
  }

  /** Starts {@code count} servers with small fresh pools and these settings besides. */
  public static ServerCluster start(int count, String... keysAndValues) throws Exception {
    return startWithPools(new String[count], keysAndValues);
  }

  /** Starts a server for each of {@code sizes}, that of its pool; null for a small one. */
  static ServerCluster startWithPools(String[] sizes, String... keysAndValues) throws Exception {
    return startSome(sizes.length, sizes, keysAndValues);
  }

  /** Starts a server with a small fresh pool at each of {@code places}. */
  static ServerCluster startAt(List<ServerPlace> places, String... keysAndValues) throws Exception {
    return startSome(places.size(), new String[places.size()], places, keysAndValues);
  }

  /** Starts the first {@code count} of the servers; {@link #startNext} starts another one. */
  static ServerCluster startSome(int count, String[] sizes, String... keysAndValues)
      throws Exception {
    return startSome(count, sizes, freePlaces(sizes.length), keysAndValues);
  }

  private static ServerCluster startSome(
      int count, String[] sizes, List<ServerPlace> places, String... keysAndValues)
      throws Exception {
    ServerCluster cluster =
        new ServerCluster(Files.createTempDirectory(Path.of("/dev/shm"), "tako-cluster-"));
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<Future<ServerProcess>> starting = new ArrayList<>();
      for (int index = 0; index < sizes.length; index++) {
        String[] settings = cluster.settings(places, index, sizes[index], keysAndValues);
        if (index < count) {
          List<String> before = places.get(index).before();
          starting.add(threads.submit(() -> ServerProcess.startBehind(before, settings)));
        } else {
          cluster.later.add(settings);
        }
      }
      Exception failure = null;
      for (Future<ServerProcess> one : starting) {
        try {
          cluster.servers.add(one.get());
        } catch (ExecutionException e) {
          failure = e; // those that started are ended, too
        }
      }
      if (failure != null) {
        throw failure;
      }
      return cluster;
    } catch (Exception e) {
      cluster.close();
      throw e;
    } finally {
      threads.shutdownNow();
    }
  }

  /** Starts the next server of those that were left out. */
  void startNext() throws Exception {
    servers.add(ServerProcess.start(later.remove(0)));
  }

  private String[] settings(List<ServerPlace> places, int index, String size, String... more) {
    ServerPlace place = places.get(index);
    List<String> settings = new ArrayList<>(List.of("fs.tako.server.host", place.host()));
    if (size != null) {
      settings.addAll(List.of("fs.tako.server.pool.size", size));
    }
    if (places.size() > 1) {
      settings.addAll(
          List.of(
              "fs.tako.server.port",
              Integer.toString(place.port()),
              "fs.tako.cluster.servers",
              places.stream().map(ServerPlace::address).collect(Collectors.joining(",")),
              "fs.tako.cluster.catalog.dir",
              directory.resolve("catalog").toString()));
    }
    settings.addAll(List.of(more)); // what a test wants wins
    return settings.toArray(String[]::new);
  }

  private static List<ServerPlace> freePlaces(int count) throws Exception {
    return ServerAddress.freePorts(count).stream()
        .map(port -> new ServerPlace(ServerAddress.host(), port, List.of()))
        .toList();
  }

  @Override
  public URI uri() {
    return servers.get(0).uri();
  }

  /** The servers; the first has the namespace. */
  public List<ServerProcess> servers() {
    return servers;
  }

  /** Writes a configuration that names the cluster and its catalog, as commands need it. */
  Path writeSite() throws IOException {
    StringBuilder site = new StringBuilder("<configuration>");
    for (String key : List.of("fs.tako.cluster.servers", "fs.tako.cluster.catalog.dir")) {
      site.append(
          "<property><name>%s</name><value>%s</value></property>"
              .formatted(key, servers.get(0).setting(key)));
    }
    return Files.writeString(
        directory.resolve("site.xml"), site.append("</configuration>").toString());
  }

  /** Kills a server, takes its pool away and starts it again, as if it were another machine. */
  public void lose(int index) throws Exception {
    ServerProcess server = servers.get(index);
    server.kill();
    server.losePool();
    server.restart();
  }

  /** Makes all data of a server that runs wrong, and none of what it knows of it. */
  public void spoil(int index) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocate(1 << 20);
    try (FileChannel data =
        FileChannel.open(servers.get(index).pool().resolve("data"), StandardOpenOption.WRITE)) {
      for (long at = 0; at < data.size(); at += zeros.capacity()) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), data.size() - at));
        data.write(zeros, at);
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (ServerProcess server : servers) {
      server.close();
    }
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
