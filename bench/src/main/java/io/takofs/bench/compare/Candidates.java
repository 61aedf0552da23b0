package io.takofs.bench.compare;

import io.takofs.bench.hadoop.HdfsCluster;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * The file systems to compare: HDFS and a directory of the local one, which end with this, and
 * Takos that run already; and what limits them.
 *
 * <p>Thread rule: one thread.
 */
final class Candidates implements AutoCloseable {
  private final java.nio.file.Path work;
  private final Map<String, Checkout> takos;
  private final List<BenchCandidate> list = new ArrayList<>();
  private final int servers;
  private final List<HdfsCluster> clusters = new ArrayList<>(); // of HDFS
  private RawTcpSender sender; // null unless it was asked for

  /**
   * Starts what does not run.
   *
   * @param names of the candidates, in the order wanted
   * @param takos servers to compare, by {@link BenchCandidate#serversOf}; they end with this
   * @param tmpfs where the others store
   * @param launcher words before the java command of HDFS's servers
   * @param servers that have file data, in each cluster
   */
  Candidates(
      List<String> names,
      Map<String, Checkout> takos,
      java.nio.file.Path tmpfs,
      List<String> launcher,
      int servers)
      throws Exception {
    this.takos = takos;
    this.servers = servers;
    work = Files.createTempDirectory(tmpfs, "tako-compare-");
    try {
      for (String name : names) {
        list.add(candidate(name, launcher));
      }
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  /** In the order of their names. */
  List<BenchCandidate> list() {
    return list;
  }

  /** A directory on the tmpfs for what else is needed; goes with this. */
  java.nio.file.Path scratch() {
    return work.resolve("scratch");
  }

  @Override
  public void close() throws IOException {
    try {
      for (BenchCandidate candidate : list) {
        candidate.fs().close();
      }
    } finally {
      for (HdfsCluster cluster : clusters) {
        cluster.close();
      }
      if (sender != null) {
        sender.close();
      }
      for (Checkout tako : takos.values()) {
        tako.close();
      }
      try (FileSystem local = rawLocal()) {
        local.delete(new Path(work.toUri()), true);
      }
    }
  }

  private BenchCandidate candidate(String name, List<String> launcher) throws Exception {
    Path base = new Path("/compare-" + ProcessHandle.current().pid());
    String kind = BenchCandidate.kindOf(name);
    return switch (kind) {
      case BenchCandidate.HDFS ->
          hdfs(name, HdfsCluster.single(work.resolve(name), launcher, servers), base);
      case BenchCandidate.HDFS_HA ->
          hdfs(name, HdfsCluster.highlyAvailable(work.resolve(name), launcher, servers), base);
      case BenchCandidate.TAKO_SHM, BenchCandidate.TAKO_TCP -> {
        Checkout tako = takos.get(BenchCandidate.serversOf(name));
        String transport = kind.substring("tako-".length());
        yield new BenchCandidate(name, tako.client(transport), base, tako.pids());
      }
      case BenchCandidate.LOCAL, BenchCandidate.MEMORY, BenchCandidate.MEMORY_THREE_TIMES ->
          new BenchCandidate(name, rawLocal(), new Path(work.resolve(name).toUri()), List.of());
      case BenchCandidate.RAW_TCP -> {
        sender = new RawTcpSender(launcher);
        yield new BenchCandidate(name, rawLocal(), base, List.of(sender.pid()), sender.address());
      }
      default ->
          throw new IllegalArgumentException(
              String.format(
                  "no candidate '%s': choose of %s, %s, %s, %s, %s, %s, %s, %s",
                  name,
                  BenchCandidate.HDFS,
                  BenchCandidate.HDFS_HA,
                  BenchCandidate.TAKO_SHM,
                  BenchCandidate.TAKO_TCP,
                  BenchCandidate.LOCAL,
                  BenchCandidate.MEMORY,
                  BenchCandidate.MEMORY_THREE_TIMES,
                  BenchCandidate.RAW_TCP));
    };
  }

  private BenchCandidate hdfs(String name, HdfsCluster cluster, Path base) throws IOException {
    clusters.add(cluster);
    return new BenchCandidate(name, cluster.client(), base, cluster.pids());
  }

  private static FileSystem rawLocal() throws IOException {
    FileSystem local = new RawLocalFileSystem();
    local.initialize(URI.create("file:///"), new Configuration());
    return local;
  }
}
