package io.takofs.bench.compare;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * HDFS as its users run it: a NameNode and a DataNode process from the Maven jars, one replica,
 * their storage on a tmpfs, reached over loopback TCP.
 *
 * <p>Thread rule: one thread.
 */
final class HdfsCluster implements AutoCloseable {
  private static final long START_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);
  private static final String OPENS = "--add-opens=java.base/";

  private final Path directory;
  private final List<String> launcher;
  private final List<Process> processes = new CopyOnWriteArrayList<>();
  private final Thread killer = new Thread(() -> processes.forEach(Process::destroyForcibly));
  private final int port;

  /**
   * Starts it.
   *
   * @param directory an empty directory on a tmpfs; removed at the end
   * @param launcher words before the java command, such as a processor placement
   */
  HdfsCluster(Path directory, List<String> launcher) throws Exception {
    this.directory = directory;
    this.launcher = launcher;
    this.port = freePort();
    // The web pages are not in the jars; the servers insist on their directories.
    Files.createDirectories(directory.resolve("conf/webapps/hdfs"));
    Files.createDirectories(directory.resolve("conf/webapps/datanode"));
    writeConfiguration();
    Process format = start("format", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format");
    if (format.waitFor() != 0) {
      throw new IOException("HDFS could not be formatted; its log ends with: " + logTails());
    }
    Runtime.getRuntime().addShutdownHook(killer); // also an interrupted run leaves nothing behind
    processes.add(start("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode"));
    processes.add(start("datanode", "org.apache.hadoop.hdfs.server.datanode.DataNode"));
    awaitDataNode();
  }

  /** Process ids of NameNode and DataNode. */
  List<Long> pids() {
    return processes.stream().map(Process::pid).toList();
  }

  /** A new client. */
  FileSystem client() throws IOException {
    return FileSystem.newInstance(URI.create("hdfs://localhost:" + port), clientConfiguration());
  }

  @Override
  public void close() throws IOException {
    for (Process process : processes) {
      process.destroyForcibly();
    }
    for (Process process : processes) {
      process.onExit().join();
    }
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private Configuration clientConfiguration() {
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", 1);
    return conf;
  }

  private void writeConfiguration() throws IOException {
    Configuration core = new Configuration(false);
    core.set("fs.defaultFS", "hdfs://localhost:" + port);
    core.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    write(core, "core-site.xml");
    // A file of its own: what core-site.xml says of these, HDFS's defaults overrule.
    Configuration site = new Configuration(false);
    site.set("dfs.replication", "1");
    site.set("dfs.namenode.name.dir", directory.resolve("name").toUri().toString());
    site.set("dfs.datanode.data.dir", directory.resolve("data").toUri().toString());
    for (String address :
        List.of(
            "dfs.namenode.http-address",
            "dfs.datanode.address",
            "dfs.datanode.ipc.address",
            "dfs.datanode.http.address")) {
      site.set(address, "localhost:0");
    }
    write(site, "hdfs-site.xml");
  }

  private void write(Configuration site, String name) throws IOException {
    try (OutputStream out = Files.newOutputStream(directory.resolve("conf").resolve(name))) {
      site.writeXml(out);
    }
  }

  private Process start(String name, String mainClass, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Hadoop 3.4 reaches into these on JDK 17.
    for (String opened : List.of("java.lang", "java.util", "java.util.concurrent", "java.net")) {
      command.add(OPENS + opened + "=ALL-UNNAMED");
    }
    command.add("-Xmx1g");
    command.add("-Dhadoop.log.dir=" + directory);
    command.add("-cp");
    command.add(directory.resolve("conf") + ":" + System.getProperty("java.class.path"));
    command.add(mainClass);
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve(name + ".log").toFile())
        .start();
  }

  /** Until a file can be written and closed, which needs both servers. */
  private void awaitDataNode() throws Exception {
    Configuration conf = clientConfiguration();
    conf.setInt("ipc.client.connect.max.retries", 1);
    conf.setInt("ipc.client.connect.retry.interval", 200);
    long start = System.nanoTime();
    while (true) {
      for (Process process : processes) {
        if (!process.isAlive()) {
          throw new IOException("an HDFS server ended at once; its logs end with: " + logTails());
        }
      }
      try (FileSystem fs = FileSystem.newInstance(URI.create("hdfs://localhost:" + port), conf)) {
        fs.create(new org.apache.hadoop.fs.Path("/ready")).close();
        try (OutputStream out = fs.create(new org.apache.hadoop.fs.Path("/ready"))) {
          out.write(1);
        }
        return;
      } catch (IOException e) {
        if (System.nanoTime() - start > START_TIMEOUT_NS) {
          throw new IOException("HDFS was not ready in time; its logs end with: " + logTails(), e);
        }
        Thread.sleep(200);
      }
    }
  }

  private String logTails() throws IOException {
    StringBuilder tails = new StringBuilder();
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(directory, "*.log")) {
      for (Path log : logs) {
        List<String> lines = Files.readAllLines(log);
        tails.append('\n').append(log.getFileName()).append(":\n");
        tails.append(
            String.join("\n", lines.subList(Math.max(0, lines.size() - 30), lines.size())));
      }
    }
    return tails.toString();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
