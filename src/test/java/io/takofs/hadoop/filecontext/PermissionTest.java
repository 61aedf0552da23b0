package io.takofs.hadoop.filecontext;

import io.takofs.hadoop.TestServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextPermissionBase;

/** Hadoop's FileContext suite of permissions. */
public class PermissionTest extends FileContextPermissionBase {
  @Override
  protected FileContext getFileContext() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    return FileContext.getFileContext(conf);
  }
}
