package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import io.takofs.system.ServerProcess;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** {@code access} says through both of Hadoop's interfaces what the server would do. */
class AccessTest {
  private static final Path FILE = new Path("/file");
  private static final String GROUPS = "admin=supergroup;member=staff;stranger=";

  private final Configuration conf = new Configuration();

  private ServerProcess start(String... settings) throws Exception {
    ServerProcess server = ServerProcess.start(settings);
    TestServer.configure(conf, server.uri());
    try (FileSystem fs = FileSystem.newInstance(conf)) {
      fs.create(FILE).close();
      fs.setPermission(FILE, new FsPermission((short) 0640));
      fs.setOwner(FILE, "owner", "staff");
    }
    return server;
  }

  /** Something that may be refused. */
  private interface Check {
    void run(FsAction mode) throws IOException;
  }

  /** The suites of this JVM need the groups that the user really has. */
  @AfterAll
  static void forgetGroups() {
    UserGroupInformation.reset();
  }

  /** Rights of {@code user} on the file, through one interface and the other. */
  private void check(String user, FsAction granted) throws Exception {
    // The groups that Hadoop gives the user must not matter: the server knows its own.
    String[] groups = user.equals("stranger") ? new String[] {"staff"} : new String[0];
    UserGroupInformation.createUserForTesting(user, groups)
        .doAs(
            (PrivilegedExceptionAction<Void>)
                () -> {
                  try (FileSystem fs = FileSystem.newInstance(conf)) {
                    check(mode -> fs.access(FILE, mode), granted);
                  }
                  FileContext context = FileContext.getFileContext(conf);
                  check(mode -> context.access(FILE, mode), granted);
                  assertThatThrownBy(() -> context.access(new Path("/missing"), FsAction.READ))
                      .isInstanceOf(FileNotFoundException.class);
                  return null;
                });
  }

  private static void check(Check access, FsAction granted) throws IOException {
    for (FsAction mode : FsAction.values()) {
      if (granted.implies(mode)) {
        access.run(mode);
      } else {
        assertThatThrownBy(() -> access.run(mode))
            .isInstanceOf(AccessControlException.class)
            .hasMessageContaining("/file");
      }
    }
  }

  @Test
  void shouldKnowSuperusersAndGroupsAsTheServerDoes() throws Exception {
    try (ServerProcess server = start("fs.tako.server.groups", GROUPS)) {
      check(UserGroupInformation.getCurrentUser().getShortUserName(), FsAction.ALL);
      check("admin", FsAction.ALL);
      check("owner", FsAction.READ_WRITE);
      check("member", FsAction.READ);
      check("stranger", FsAction.NONE);
      server.terminate();
    }
  }

  @Test
  void shouldRefuseNobodyWhenTheServerDoesNot() throws Exception {
    try (ServerProcess server = start("fs.tako.server.permissions.enabled", "false")) {
      check("stranger", FsAction.ALL);
      server.terminate();
    }
  }
}
