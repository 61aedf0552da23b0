package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ACLs through both of Hadoop's interfaces; what they mean is the server's own tests'. */
class AclTest {
  private static final Path DIRECTORY = new Path("/acls");
  private static final Path FILE = new Path(DIRECTORY, "file");
  private static final FsPermission PRIVATE = new FsPermission((short) 0600);

  private Configuration conf;
  private FileSystem fs;
  private FileContext context;

  @BeforeEach
  void connect() throws Exception {
    conf = new Configuration();
    TestServer.configure(conf);
    conf.set("fs.permissions.umask-mode", "077");
    fs = FileSystem.newInstance(conf);
    context = FileContext.getFileContext(conf);
    fs.delete(DIRECTORY, true);
    fs.mkdirs(DIRECTORY);
    fs.setPermission(DIRECTORY, new FsPermission((short) 0755));
    fs.create(FILE).close();
  }

  @AfterEach
  void disconnect() throws IOException {
    fs.delete(DIRECTORY, true);
    fs.close();
  }

  private static List<AclEntry> acl(String text) {
    return AclEntry.parseAclSpec(text, true);
  }

  private static <T> T as(String user, PrivilegedExceptionAction<T> action) throws Exception {
    return UserGroupInformation.createUserForTesting(user, new String[0]).doAs(action);
  }

  private boolean mayRead(String user, Path file) throws Exception {
    return as(
        user,
        () -> {
          try (FileSystem own = FileSystem.newInstance(conf)) {
            own.open(file).close();
            own.access(file, FsAction.READ);
            return true;
          } catch (AccessControlException e) {
            assertThatThrownBy(() -> FileContext.getFileContext(conf).access(file, FsAction.READ))
                .isInstanceOf(AccessControlException.class);
            return false;
          }
        });
  }

  @Test
  void shouldLetInWhomAnEntryNames() throws Exception {
    assertThat(mayRead("ann", FILE)).isFalse();
    fs.modifyAclEntries(FILE, acl("user:ann:r--"));
    assertThat(mayRead("ann", FILE)).isTrue();
    assertThat(mayRead("bob", FILE)).isFalse();
    fs.setPermission(FILE, PRIVATE);
    assertThat(mayRead("ann", FILE)).isFalse();
    context.modifyAclEntries(FILE, acl("mask::r--"));
    assertThat(mayRead("ann", FILE)).isTrue();
    context.modifyAclEntries(DIRECTORY, acl("user:ann:---"));
    assertThat(mayRead("ann", FILE)).isFalse();
  }

  @Test
  void shouldTellTheSameThroughBothInterfaces() throws Exception {
    context.setAcl(FILE, acl("user::rwx,user:ann:rw-,group::r--,other::---"));
    AclStatus status = fs.getAclStatus(FILE);
    assertThat(status).isEqualTo(context.getAclStatus(FILE));
    assertThat(status.getPermission()).isEqualTo(new FsPermission((short) 0760));
    assertThat(status.getEntries()).isEqualTo(acl("user:ann:rw-,group::r--"));
    assertThat(fs.getFileStatus(FILE).hasAcl()).isTrue();
    assertThat(context.getFileStatus(FILE).hasAcl()).isTrue();
    assertThat(fs.listStatus(DIRECTORY)).allMatch(FileStatus::hasAcl);
    assertThat(fs.listLocatedStatus(DIRECTORY).next().hasAcl()).isTrue();
    fs.removeAclEntries(FILE, AclEntry.parseAclSpec("user:ann", false));
    assertThat(context.getAclStatus(FILE).getEntries()).isEqualTo(acl("group::r--"));
    context.removeAcl(FILE);
    assertThat(fs.getFileStatus(FILE).hasAcl()).isFalse();
    assertThat(fs.getFileStatus(FILE).getPermission()).isEqualTo(new FsPermission((short) 0740));
    assertThat(fs.hasPathCapability(FILE, CommonPathCapabilities.FS_ACLS)).isTrue();
    assertThat(context.hasPathCapability(FILE, CommonPathCapabilities.FS_ACLS)).isTrue();
  }

  @Test
  void shouldInheritBeforeTheUmaskThroughBothInterfaces() throws Exception {
    fs.modifyAclEntries(DIRECTORY, acl("default:user:ann:rwx"));
    Path one = new Path(DIRECTORY, "one");
    fs.create(one).close();
    Path two = new Path(DIRECTORY, "two");
    context.create(two, EnumSet.of(CreateFlag.CREATE)).close();
    for (Path file : List.of(one, two)) {
      assertThat(fs.getAclStatus(file).getPermission().toShort()).isEqualTo((short) 0664);
      assertThat(mayRead("ann", file)).isTrue();
    }
    Path below = new Path(DIRECTORY, "below");
    fs.mkdirs(below);
    context.mkdir(new Path(below, "more"), FsPermission.getDirDefault(), false);
    AclStatus status = fs.getAclStatus(new Path(below, "more"));
    assertThat(status.getPermission().toShort()).isEqualTo((short) 0775);
    assertThat(status.getEntries()).hasSize(2 + 5);
    context.removeDefaultAcl(below);
    assertThat(fs.getAclStatus(below).getEntries()).hasSize(2);
    fs.removeDefaultAcl(DIRECTORY);
    assertThat(fs.getFileStatus(DIRECTORY).hasAcl()).isFalse();
    // Without a default ACL the umask counts.
    Path three = new Path(DIRECTORY, "three");
    fs.create(three).close();
    assertThat(fs.getFileStatus(three).getPermission()).isEqualTo(PRIVATE);
  }

  @Test
  void shouldRefuseAsHdfsDoes() throws Exception {
    assertThatThrownBy(() -> fs.modifyAclEntries(FILE, acl("default:user:ann:r--")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("only directories may have a default ACL");
    assertThatThrownBy(() -> fs.getAclStatus(new Path("/missing")))
        .isInstanceOf(FileNotFoundException.class);
    as(
        "ann",
        () -> {
          try (FileSystem own = FileSystem.newInstance(conf)) {
            assertThatThrownBy(() -> own.modifyAclEntries(FILE, acl("user:ann:rwx")))
                .isInstanceOf(AccessControlException.class);
          }
          return null;
        });
  }
}
