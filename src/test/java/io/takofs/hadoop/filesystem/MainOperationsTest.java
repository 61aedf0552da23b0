package io.takofs.hadoop.filesystem;

import io.takofs.hadoop.TestServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSMainOperationsBaseTest;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.AfterClass;
import org.junit.jupiter.api.AfterAll;

/** Hadoop's suite of main operations, through FileSystem, as a user with no privileges. */
public class MainOperationsTest extends FSMainOperationsBaseTest {
  private static final Path ROOT = new Path("/main-operations");
  private static final String USER = "tester";
  private static final List<FileSystem> CLIENTS = new ArrayList<>();

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
    FileSystem client = FileSystem.get(superuser.getUri(), conf, USER);
    CLIENTS.add(client);
    return client;
  }

  @Override
  protected Path getDefaultWorkingDirectory() {
    return fSys.getHomeDirectory();
  }

  /** Hadoop's cache never finds the file system of a user that is given by name. */
  @AfterClass
  @AfterAll
  public static void closeClients() throws IOException {
    for (FileSystem client : CLIENTS) {
      client.close();
    }
    CLIENTS.clear();
  }
}
