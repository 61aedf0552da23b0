package io.takofs.hadoop.filecontext;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextCreateMkdirBaseTest;

/** Hadoop's FileContext suite of creates and directories. */
public class CreateMkdirTest extends FileContextCreateMkdirBaseTest {
  @Override
  public void setUp() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fc = FileContext.getFileContext(conf);
    super.setUp();
  }
}
