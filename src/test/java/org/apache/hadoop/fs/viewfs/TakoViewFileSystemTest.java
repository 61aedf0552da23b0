package org.apache.hadoop.fs.viewfs;

import io.takofs.hadoop.TestServer;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystemTestHelper;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Hadoop's suite of a mount table, through FileSystem. */
public class TakoViewFileSystemTest extends ViewFileSystemBaseTest {
  @Override
  protected FileSystemTestHelper createFileSystemHelper() {
    return new FileSystemTestHelper("/tmp/view-file-system");
  }

  @Override
  @Before
  @BeforeEach
  public void setUp() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fsTarget = FileSystem.newInstance(conf);
    fsTarget.mkdirs(fsTarget.getHomeDirectory());
    SupportsBlocks = true;
    super.setUp();
  }

  @Override
  @After
  @AfterEach
  public void tearDown() throws Exception {
    super.tearDown();
    fsTarget.close();
  }

  @Override
  Path getTrashRootInFallBackFS() throws IOException {
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    return new Path("/" + FileSystem.TRASH_PREFIX + "/" + user);
  }

  @AfterClass
  @AfterAll
  public static void closeClients() {
    CachedClients.close();
  }
}
