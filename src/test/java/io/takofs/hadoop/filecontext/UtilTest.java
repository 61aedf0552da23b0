package io.takofs.hadoop.filecontext;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextUtilBase;
import org.junit.Before;
import org.junit.jupiter.api.BeforeEach;

/** Hadoop's FileContext suite of copies. */
public class UtilTest extends FileContextUtilBase {
  @Override
  @Before
  @BeforeEach
  public void setUp() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fc = FileContext.getFileContext(conf);
    super.setUp();
  }
}
