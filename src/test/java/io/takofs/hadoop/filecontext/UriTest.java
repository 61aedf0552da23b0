package io.takofs.hadoop.filecontext;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextTestHelper;
import org.apache.hadoop.fs.FileContextURIBase;
import org.apache.hadoop.fs.Path;
import org.junit.After;
import org.junit.Before;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Hadoop's FileContext suite of paths of all forms. */
public class UriTest extends FileContextURIBase {
  /** The suite wants some space used, and its own files are so small that they use none. */
  private static final Path LARGE = new Path("/uri-test-large");

  @Override
  @Before
  @BeforeEach
  public void setUp() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fc1 = FileContext.getFileContext(conf);
    fc2 = FileContext.getFileContext(conf);
    FileContextTestHelper.createFile(fc1, LARGE, 1, 64 << 10);
    super.setUp();
  }

  @Override
  @After
  @AfterEach
  public void tearDown() throws Exception {
    super.tearDown();
    fc1.delete(LARGE, false);
  }
}
