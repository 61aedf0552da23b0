package io.takofs.bench.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;

/**
 * HDFS as its users run it: a NameNode and a DataNode process from the Maven jars, one replica,
 * their storage on a tmpfs, reached over loopback TCP.
 *
 * <p>Thread rule: one thread.
 */
public final class HdfsCluster implements AutoCloseable {
  private final HadoopDaemons daemons;
  private final int port;

  /**
   * Starts it.
   *
   * @param directory an empty directory on a tmpfs; removed at the end
   * @param launcher words before the java command, such as a processor placement
   */
  public HdfsCluster(Path directory, List<String> launcher) throws Exception {
    this.port = HadoopDaemons.freePort();
    this.daemons = new HadoopDaemons(directory, launcher);
    // The web pages are not in the jars; the servers insist on their directories.
    Files.createDirectories(daemons.configuration().resolve("webapps/hdfs"));
    Files.createDirectories(daemons.configuration().resolve("webapps/datanode"));
    configure(directory);
    daemons.run("format", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format");
    daemons.start("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode");
    daemons.start("datanode", "org.apache.hadoop.hdfs.server.datanode.DataNode");
    daemons.await("HDFS", this::takesAFile);
  }

  /** Process ids of NameNode and DataNode. */
  public List<Long> pids() {
    return daemons.pids();
  }

  /** A new client. */
  public FileSystem client() throws IOException {
    return FileSystem.newInstance(uri(), clientConfiguration());
  }

  @Override
  public void close() throws IOException {
    daemons.close();
  }

  private Configuration clientConfiguration() {
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", 1);
    return conf;
  }

  private void configure(Path directory) throws IOException {
    Configuration core = new Configuration(false);
    core.set("fs.defaultFS", uri().toString());
    core.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    daemons.configure(core, "core-site.xml");
    // A separate file, because HDFS's defaults overrule these settings in core-site.xml.
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
    daemons.configure(site, "hdfs-site.xml");
  }

  /** Whether a file can be written and closed, which needs both servers. */
  private boolean takesAFile() throws IOException {
    Configuration conf = clientConfiguration();
    conf.setInt("ipc.client.connect.max.retries", 1);
    conf.setInt("ipc.client.connect.retry.interval", 200);
    try (FileSystem fs = FileSystem.newInstance(uri(), conf)) {
      if (!hasSpace((DistributedFileSystem) fs)) {
        return false;
      }
      try (OutputStream out = fs.create(new org.apache.hadoop.fs.Path("/ready"))) {
        out.write(1);
      }
    }
    return true;
  }

  /** Whether the NameNode knows a DataNode's storage; before that, writing is an error it logs. */
  private static boolean hasSpace(DistributedFileSystem fs) throws IOException {
    return Arrays.stream(fs.getDataNodeStats(DatanodeReportType.LIVE))
        .anyMatch(node -> node.getRemaining() > 0);
  }

  private URI uri() {
    return URI.create("hdfs://localhost:" + port);
  }
}
