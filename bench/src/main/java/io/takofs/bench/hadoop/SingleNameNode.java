package io.takofs.bench.hadoop;

import io.takofs.base.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.namenode.NameNode;

/**
 * One NameNode, whose log is in its own directory.
 *
 * <p>Thread rule: one thread.
 */
final class SingleNameNode implements NameNodes {
  private final int port = new FreePorts(new Random()).onLoopback(1).get(0);

  SingleNameNode() throws IOException {}

  @Override
  public URI uri() {
    return URI.create("hdfs://localhost:" + port);
  }

  @Override
  public void addTo(Configuration conf) {} // the address says it all

  @Override
  public void configure(Configuration site, Path directory) {
    site.set("dfs.namenode.name.dir", directory.resolve("name").toUri().toString());
    site.set("dfs.namenode.http-address", "localhost:0");
  }

  @Override
  public void start(HadoopDaemons daemons, Path directory) throws Exception {
    daemons.run("format", NameNode.class.getName(), "-format");
    daemons.start("namenode", NameNode.class.getName());
  }

  @Override
  public boolean areReady() {
    return true; // a client asks it
  }
}
