package io.takofs.hadoop.filesystem;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSMainOperationsBaseTest;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Hadoop's suite of main operations, through FileSystem. */
public class MainOperationsTest extends FSMainOperationsBaseTest {
  public MainOperationsTest() {
    super("/main-operations");
  }

  @Override
  protected FileSystem createFileSystem() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    return FileSystem.get(conf);
  }

  @Override
  protected Path getDefaultWorkingDirectory() {
    return fSys.getHomeDirectory();
  }
}
