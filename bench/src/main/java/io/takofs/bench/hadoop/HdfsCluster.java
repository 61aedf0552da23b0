package io.takofs.bench.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.server.datanode.DataNode;

/**
 * HDFS as its users run it: NameNode and DataNode processes from the Maven jars, with up to three
 * replicas, their storage on a tmpfs, reached over loopback TCP.
 *
 * <p>Thread rule: one thread.
 */
public final class HdfsCluster implements AutoCloseable {
  private static final int REPLICAS_MAX = 3;

  private final HadoopDaemons daemons;
  private final NameNodes nameNodes;
  private final int dataNodes;

  /**
   * Starts one whose namespace a single NameNode keeps.
   *
   * @param directory an empty directory on a tmpfs; removed at the end
   * @param launcher words before the java command, such as a processor placement
   * @param dataNodes how many; each has every block while there are three at most
   */
  public static HdfsCluster single(Path directory, List<String> launcher, int dataNodes)
      throws Exception {
    return new HdfsCluster(directory, launcher, dataNodes, new SingleNameNode());
  }

  /**
   * Starts one with high availability: two NameNodes whose log three JournalNodes keep.
   *
   * @param directory an empty directory on a tmpfs; removed at the end
   * @param launcher words before the java command, such as a processor placement
   * @param dataNodes how many; each has every block while there are three at most
   */
  public static HdfsCluster highlyAvailable(Path directory, List<String> launcher, int dataNodes)
      throws Exception {
    return new HdfsCluster(directory, launcher, dataNodes, new NameNodePair());
  }

  private HdfsCluster(Path directory, List<String> launcher, int dataNodes, NameNodes nameNodes)
      throws Exception {
    this.dataNodes = dataNodes;
    this.nameNodes = nameNodes;
    this.daemons = new HadoopDaemons(directory, launcher);
    try {
      // The web pages are not in the jars; the servers insist on their directories.
      for (String pages : List.of("hdfs", "datanode", "journal")) {
        Files.createDirectories(daemons.configuration().resolve("webapps").resolve(pages));
      }
      configure(directory);
      nameNodes.start(daemons, directory);
      for (int number = 1; number <= dataNodes; number++) {
        Path data = directory.resolve("data-" + number);
        daemons.start(
            "datanode-" + number,
            DataNode.class.getName(),
            "-Ddfs.datanode.data.dir=" + data.toUri());
      }
      daemons.await("HDFS", () -> nameNodes.areReady() && takesAFile());
    } catch (Exception e) {
      daemons.close();
      throw e;
    }
  }

  /** Process ids of all servers. */
  public List<Long> pids() {
    return daemons.pids();
  }

  /** A new client. */
  public FileSystem client() throws IOException {
    return FileSystem.newInstance(nameNodes.uri(), clientConfiguration());
  }

  @Override
  public void close() throws IOException {
    daemons.close();
  }

  private Configuration clientConfiguration() {
    Configuration conf = new Configuration();
    nameNodes.addTo(conf);
    conf.setInt("dfs.replication", replicas());
    return conf;
  }

  private void configure(Path directory) throws IOException {
    Configuration core = new Configuration(false);
    core.set("fs.defaultFS", nameNodes.uri().toString());
    core.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    daemons.configure(core, "core-site.xml");
    // A separate file, because HDFS's defaults overrule these settings in core-site.xml.
    Configuration site = new Configuration(false);
    site.setInt("dfs.replication", replicas());
    nameNodes.addTo(site);
    nameNodes.configure(site, directory);
    for (String address :
        List.of("dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address")) {
      site.set(address, "localhost:0");
    }
    daemons.configure(site, "hdfs-site.xml");
  }

  private int replicas() {
    return Math.min(REPLICAS_MAX, dataNodes);
  }

  /** Whether a file can be written and closed, which needs all servers. */
  private boolean takesAFile() throws IOException {
    Configuration conf = clientConfiguration();
    conf.setInt("ipc.client.connect.max.retries", 1);
    conf.setInt("ipc.client.connect.retry.interval", 200);
    try (FileSystem fs = FileSystem.newInstance(nameNodes.uri(), conf)) {
      if (!hasSpace((DistributedFileSystem) fs)) {
        return false;
      }
      try (OutputStream out = fs.create(new org.apache.hadoop.fs.Path("/ready"))) {
        out.write(1);
      }
    }
    return true;
  }

  /** Whether the NameNode knows all storage; before that, writing is an error that it logs. */
  private boolean hasSpace(DistributedFileSystem fs) throws IOException {
    return Arrays.stream(fs.getDataNodeStats(DatanodeReportType.LIVE))
            .filter(node -> node.getRemaining() > 0)
            .count()
        == dataNodes;
  }
}
