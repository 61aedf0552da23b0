package io.takofs.hadoop.filesystem;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSMainOperationsBaseTest;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.After;

/** Hadoop's suite of main operations, through FileSystem, as a user with no privileges. */
public class MainOperationsTest extends FSMainOperationsBaseTest {
  private static final Path ROOT = new Path("/main-operations");
  private static final String USER = "tester";

  public MainOperationsTest() {
    super(ROOT.toString());
  }

  @Override
  protected FileSystem createFileSystem() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    FileSystem superuser = FileSystem.get(conf);
    superuser.mkdirs(ROOT);
    superuser.setOwner(ROOT, USER, USER);
    return FileSystem.get(superuser.getUri(), conf, USER);
  }

  @Override
  protected Path getDefaultWorkingDirectory() {
    return fSys.getHomeDirectory();
  }

  /** Hadoop's cache never finds the file system of a user that is given by name. */
  @Override
  @After
  public void tearDown() throws Exception {
    try {
      super.tearDown();
    } finally {
      fSys.close();
    }
  }
}
