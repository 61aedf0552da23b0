package io.takofs.hadoop.filecontext;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextURIBase;

/** Hadoop's FileContext suite of paths of all forms. */
public class UriTest extends FileContextURIBase {
  @Override
  public void setUp() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fc1 = FileContext.getFileContext(conf);
    fc2 = FileContext.getFileContext(conf);
    super.setUp();
  }
}
