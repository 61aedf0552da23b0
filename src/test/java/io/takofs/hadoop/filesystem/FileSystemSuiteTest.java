package io.takofs.hadoop.filesystem;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystemContractBaseTest;
import org.junit.After;
import org.junit.Before;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Hadoop's older file system suite. */
public class FileSystemSuiteTest extends FileSystemContractBaseTest {
  @Before
  @BeforeEach
  public void connect() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    conf.set("fs.permissions.umask-mode", FileSystemContractBaseTest.TEST_UMASK);
    fs = FileSystem.newInstance(conf);
  }

  /** Each test has a client of its own, and a server serves only so many. */
  @Override
  @After
  @AfterEach
  public void tearDown() throws Exception {
    try {
      super.tearDown();
    } finally {
      fs.close();
    }
  }
}
