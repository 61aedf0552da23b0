package org.apache.hadoop.fs.viewfs;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextTestHelper;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Hadoop's suite of a mount table, through FileContext. */
public class TakoViewFsTest extends ViewFsBaseTest {
  @Override
  protected FileContextTestHelper createFileContextHelper() {
    return new FileContextTestHelper("/tmp/view-fs");
  }

  @Override
  @Before
  @BeforeEach
  public void setUp() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fcTarget = FileContext.getFileContext(conf);
    fcTarget.mkdir(fcTarget.getHomeDirectory(), FileContext.DEFAULT_PERM, true);
    SupportsBlocks = true;
    super.setUp();
  }

  @Override
  @After
  @AfterEach
  public void tearDown() throws Exception {
    super.tearDown();
  }

  @AfterClass
  @AfterAll
  public static void closeClients() {
    CachedClients.close();
  }
}
