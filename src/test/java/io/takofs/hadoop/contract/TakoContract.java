package io.takofs.hadoop.contract;

import io.takofs.hadoop.TestServer;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** Binds Hadoop's contract suites to the data server of this JVM. */
public class TakoContract extends AbstractFSContract {
  public TakoContract(Configuration conf) {
    super(conf);
    addConfResource("contract/tako.xml");
  }

  @Override
  public void init() throws IOException {
    super.init();
    TestServer.configure(getConf());
  }

  @Override
  public FileSystem getTestFileSystem() throws IOException {
    return FileSystem.get(getConf());
  }

  @Override
  public String getScheme() {
    return "tako";
  }

  @Override
  public Path getTestPath() {
    return new Path("/test");
  }
}
