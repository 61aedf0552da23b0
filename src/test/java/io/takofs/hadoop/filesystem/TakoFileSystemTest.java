package io.takofs.hadoop.filesystem;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TakoFileSystem;
import io.takofs.hadoop.TestServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.ClosedChannelException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.TestTrash;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Behaviour that Hadoop's suites leave out. */
class TakoFileSystemTest {
  private static final Path HOME = new Path("/filesystem-test");

  private Configuration conf;
  private FileSystem fs;

  @BeforeEach
  void connect() throws IOException {
    conf = new Configuration();
    TestServer.configure(conf);
    fs = FileSystem.get(conf);
    fs.delete(HOME, true);
    fs.mkdirs(HOME);
  }

  private static Path in(String name) {
    return new Path(HOME, name);
  }

  private static void write(FileSystem fs, Path path, String content) throws IOException {
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(content.getBytes(UTF_8));
    }
  }

  private static String read(FileSystem fs, Path path) throws IOException {
    try (FSDataInputStream in = fs.open(path)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  @Test
  void shouldBeFoundByItsScheme() {
    assertThat(fs).isInstanceOf(TakoFileSystem.class);
    assertThat(fs.getScheme()).isEqualTo("tako");
    assertThat(fs.getCanonicalServiceName()).isEqualTo(fs.getUri().getAuthority());
  }

  @Test
  void shouldTakePathsWithAndWithoutSchemeAndHost() throws IOException {
    write(fs, in("a"), "a");
    assertThat(fs.exists(new Path(fs.getUri() + "/filesystem-test/a"))).isTrue();
    assertThat(fs.exists(new Path("tako:///filesystem-test/a"))).isTrue();
    fs.setWorkingDirectory(HOME);
    assertThat(fs.exists(new Path("a"))).isTrue();
    fs.setWorkingDirectory(fs.getHomeDirectory());
    assertThatThrownBy(() -> fs.exists(new Path("tako://elsewhere/a")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldLiveInUsersHome() throws IOException {
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    assertThat(fs.getHomeDirectory()).isEqualTo(new Path(fs.getUri() + "/user/" + user));
    assertThat(fs.getWorkingDirectory()).isEqualTo(fs.getHomeDirectory());
  }

  @Test
  void shouldApplyTheUmask() throws IOException {
    conf.set("fs.permissions.umask-mode", "027");
    try (FileSystem masked = FileSystem.newInstance(conf)) {
      write(masked, in("file"), "x");
      masked.mkdirs(in("directory"));
      assertThat(fs.getFileStatus(in("file")).getPermission().toShort()).isEqualTo((short) 0640);
      assertThat(fs.getFileStatus(in("directory")).getPermission().toShort())
          .isEqualTo((short) 0750);
    }
  }

  @Test
  void shouldActForTheUserThatHadoopSays() throws Exception {
    fs.setPermission(HOME, new FsPermission((short) 0777));
    UserGroupInformation alice =
        UserGroupInformation.createUserForTesting("alice", new String[] {"wonderland"});
    write(fs, in("secret"), "x");
    fs.setPermission(in("secret"), new FsPermission((short) 0600));
    alice.doAs(
        (PrivilegedExceptionAction<Void>)
            () -> {
              try (FileSystem hers = FileSystem.newInstance(conf)) {
                write(hers, in("hers"), "x");
                assertThat(hers.getFileStatus(in("hers")).getOwner()).isEqualTo("alice");
                assertThat(hers.getHomeDirectory().getName()).isEqualTo("alice");
                assertThatThrownBy(() -> hers.open(in("secret")))
                    .isInstanceOf(AccessControlException.class)
                    .hasMessageContaining("secret");
                assertThatThrownBy(() -> hers.access(in("secret"), FsAction.READ))
                    .isInstanceOf(AccessControlException.class);
              }
              return null;
            });
    // The user that runs the server is its superuser.
    fs.access(in("hers"), FsAction.ALL);
  }

  @Test
  void shouldRefuseToWorkOnceClosed() throws IOException {
    FileSystem closed = FileSystem.newInstance(conf);
    write(closed, in("a"), "a");
    closed.close();
    closed.close();
    assertThatThrownBy(() -> closed.exists(in("a")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> closed.create(in("b"))).isInstanceOf(IOException.class);
  }

  @Test
  void shouldCloseWhatIsStillBeingWritten() throws IOException {
    FileSystem closing = FileSystem.newInstance(conf);
    FSDataOutputStream out = closing.create(in("a"));
    out.write("all of it".getBytes(UTF_8));
    closing.close();
    assertThat(read(fs, in("a"))).isEqualTo("all of it");
    assertThatThrownBy(() -> out.write(1)).isInstanceOf(ClosedChannelException.class);
    out.close();
  }

  @Test
  void shouldDeleteOnExitWhatWasMarked() throws IOException {
    FileSystem closing = FileSystem.newInstance(conf);
    write(closing, in("a"), "a");
    closing.deleteOnExit(in("a"));
    closing.close();
    assertThat(fs.exists(in("a"))).isFalse();
  }

  @Test
  void shouldShowBytesAtHflushAndNotBefore() throws IOException {
    try (FSDataOutputStream out = fs.create(in("a"))) {
      out.write("one".getBytes(UTF_8));
      out.flush();
      assertThat(fs.getFileStatus(in("a")).getLen()).isZero();
      out.hflush();
      assertThat(read(fs, in("a"))).isEqualTo("one");
      out.write(" two".getBytes(UTF_8));
      out.hsync();
      assertThat(fs.getFileStatus(in("a")).getLen()).isEqualTo(7);
    }
    assertThat(read(fs, in("a"))).isEqualTo("one two");
  }

  @Test
  void shouldSayWhatItsStreamsCan() throws IOException {
    try (FSDataOutputStream out = fs.create(in("a"))) {
      assertThat(out.hasCapability("hflush")).isTrue();
      assertThat(out.hasCapability("HSYNC")).isTrue();
      assertThat(out.hasCapability(StreamCapabilities.DROPBEHIND)).isTrue();
      assertThat(out.hasCapability(StreamCapabilities.READAHEAD)).isFalse();
    }
    try (FSDataInputStream in = fs.open(in("a"))) {
      assertThat(in.hasCapability(StreamCapabilities.READBYTEBUFFER)).isTrue();
      assertThat(in.hasCapability(StreamCapabilities.PREADBYTEBUFFER)).isTrue();
      assertThat(in.hasCapability(StreamCapabilities.UNBUFFER)).isTrue();
      assertThat(in.hasCapability("hsync")).isFalse();
    }
    assertThat(fs.hasPathCapability(HOME, CommonPathCapabilities.FS_APPEND)).isTrue();
    assertThat(fs.hasPathCapability(HOME, CommonPathCapabilities.FS_TRUNCATE)).isTrue();
    assertThat(fs.hasPathCapability(HOME, CommonPathCapabilities.FS_ACLS)).isTrue();
    assertThat(fs.hasPathCapability(HOME, CommonPathCapabilities.FS_SYMLINKS)).isFalse();
  }

  @Test
  void shouldGiveTheChecksumThatHdfsGives() throws IOException {
    byte[] content = new byte[300_000];
    new java.util.Random(1).nextBytes(content);
    for (String name : List.of("a", "b")) {
      try (FSDataOutputStream out = fs.create(in(name))) {
        out.write(content);
      }
    }
    CRC32C crc = new CRC32C();
    crc.update(content);
    FileChecksum checksum = fs.getFileChecksum(in("a"));
    // HDFS calls the CRC of a whole file, composed of those of its chunks, by this name.
    assertThat(checksum.getAlgorithmName()).isEqualTo("COMPOSITE-CRC32C");
    assertThat(checksum.getBytes())
        .isEqualTo(java.nio.ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    assertThat(fs.getFileChecksum(in("b"))).isEqualTo(checksum);
    assertThat(fs.getFileChecksum(in("b"), 299_999)).isNotEqualTo(checksum);
  }

  @Test
  void shouldTellWhereBlocksAre() throws IOException {
    try (FSDataOutputStream out = fs.create(in("a"), true, 4096, (short) 1, 65536)) {
      out.write(new byte[200_000]);
    }
    RemoteIterator<LocatedFileStatus> files = fs.listLocatedStatus(HOME);
    LocatedFileStatus file = files.next();
    assertThat(files.hasNext()).isFalse();
    assertThat(file.getBlockSize()).isEqualTo(65536);
    BlockLocation[] blocks = file.getBlockLocations();
    assertThat(blocks).hasSize(4);
    for (BlockLocation block : blocks) {
      assertThat(block.getHosts()).containsExactly(fs.getUri().getHost());
    }
    assertThat(fs.getFileBlockLocations(file, 65536, 1)).hasSize(1);
  }

  @Test
  void shouldListADirectoryOfManyPages() throws IOException {
    int count = 2345;
    for (int i = 0; i < count; i++) {
      fs.create(in("many/file-" + i)).close();
    }
    assertThat(fs.listStatus(in("many"))).hasSize(count);
    List<String> names = new ArrayList<>();
    RemoteIterator<FileStatus> entries = fs.listStatusIterator(in("many"));
    while (entries.hasNext()) {
      names.add(entries.next().getPath().getName());
    }
    assertThat(names).hasSize(count).doesNotHaveDuplicates();
    assertThat(fs.getContentSummary(in("many")).getFileCount()).isEqualTo(count);
    fs.delete(in("many"), true);
    assertThat(fs.exists(in("many"))).isFalse();
  }

  @Test
  void shouldReplaceAtomicallyThroughFileContext() throws Exception {
    FileContext context = FileContext.getFileContext(conf);
    write(fs, in("target"), "content 0");
    AtomicBoolean done = new AtomicBoolean();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                while (!done.get()) {
                  assertThat(read(fs, in("target"))).startsWith("content ");
                }
              } catch (Throwable e) {
                failure.set(e);
              }
            });
    reader.start();
    for (int i = 1; i <= 200 && failure.get() == null; i++) {
      write(fs, in("source"), "content " + i);
      context.rename(in("source"), in("target"), Options.Rename.OVERWRITE);
    }
    done.set(true);
    reader.join();
    assertThat(failure.get()).isNull();
    assertThat(read(fs, in("target"))).isEqualTo("content 200");
    assertThat(fs.exists(in("source"))).isFalse();
  }

  @Test
  void shouldRenameAsHdfsDoes() throws IOException {
    write(fs, in("a"), "a");
    write(fs, in("b"), "b");
    fs.mkdirs(in("d/a"));
    assertThat(fs.rename(in("missing"), in("x"))).isFalse();
    assertThat(fs.rename(in("a"), in("b"))).isFalse();
    assertThat(fs.rename(in("a"), in("a"))).isTrue();
    assertThat(fs.rename(in("d"), in("d"))).isFalse();
    assertThat(fs.rename(in("d"), in("d/below"))).isFalse();
    assertThat(fs.rename(in("a"), in("d"))).isFalse();
    assertThat(fs.rename(in("b"), in("d"))).isTrue();
    assertThat(read(fs, in("d/b"))).isEqualTo("b");
    assertThat(fs.rename(in("a"), in("missing/x"))).isFalse();
    assertThat(fs.rename(new Path("/"), in("x"))).isFalse();
    assertThat(fs.rename(in("d/b"), new Path("/"))).isTrue();
    assertThat(fs.delete(new Path("/b"), false)).isTrue();
  }

  @Test
  void shouldCutFiles() throws IOException {
    byte[] content = new byte[250_000];
    new java.util.Random(2).nextBytes(content);
    try (FSDataOutputStream out = fs.create(in("a"))) {
      out.write(content);
    }
    for (int length : new int[] {200_001, 131_072, 5000, 100, 0}) {
      assertThat(fs.truncate(in("a"), length)).isTrue();
      try (FSDataInputStream in = fs.open(in("a"))) {
        assertThat(in.readAllBytes()).isEqualTo(java.util.Arrays.copyOf(content, length));
      }
    }
    assertThatThrownBy(() -> fs.truncate(in("a"), 1)).isInstanceOf(IOException.class);
  }

  @Test
  void shouldMoveToTrash() throws Exception {
    TestTrash.trashShell(conf, new Path("/trash-test"), fs, null);
  }

  @Test
  void shouldCountBytesAndOperations() throws IOException {
    StorageStatistics statistics = FileSystem.getGlobalStorageStatistics().get("tako");
    long written = statistics.getLong("bytesWritten");
    long read = statistics.getLong("bytesRead");
    write(fs, in("a"), "seven b");
    assertThat(statistics.getLong("bytesWritten") - written).isEqualTo(7);
    assertThat(read(fs, in("a"))).hasSize(7);
    assertThat(statistics.getLong("bytesRead") - read).isEqualTo(7);
  }

  @Test
  void shouldTellItsSpace() throws IOException {
    FsStatus status = fs.getStatus();
    assertThat(status.getCapacity()).isGreaterThan(0);
    assertThat(status.getUsed() + status.getRemaining()).isEqualTo(status.getCapacity());
  }

  @Test
  void shouldOpenWithWhatTheCallerKnows() throws Exception {
    write(fs, in("a"), "content");
    FileStatus status = fs.getFileStatus(in("a"));
    try (FSDataInputStream in =
        fs.openFile(in("a"))
            .withFileStatus(status)
            .opt("fs.option.openfile.read.policy", "random")
            .must("fs.option.openfile.length", 7)
            .build()
            .get()) {
      assertThat(new String(in.readAllBytes(), UTF_8)).isEqualTo("content");
    }
  }

  @Test
  void shouldNameTheKeyThatIsWrong() {
    conf.set("fs.tako.transport", "pigeon");
    assertThatThrownBy(() -> FileSystem.newInstance(conf))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("fs.tako.transport")
        .hasMessageContaining("pigeon");
  }

  @Test
  void shouldNameAServerThatIsNotThere() throws Exception {
    conf.set("fs.tako.client.timeout", "200ms");
    try (FileSystem nowhere = FileSystem.newInstance(URI.create("tako://127.0.0.1:1"), conf)) {
      assertThatThrownBy(() -> nowhere.exists(new Path("/")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("127.0.0.1:1");
    }
  }

  @Test
  void shouldThrowWhatHdfsThrows() throws IOException {
    write(fs, in("file"), "x");
    assertThatThrownBy(() -> fs.open(in("missing"))).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.open(HOME)).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.listStatus(in("missing")))
        .isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.create(in("file"), false))
        .isInstanceOf(org.apache.hadoop.fs.FileAlreadyExistsException.class);
    assertThatThrownBy(() -> fs.create(HOME, true))
        .isInstanceOf(org.apache.hadoop.fs.FileAlreadyExistsException.class);
    assertThatThrownBy(() -> fs.create(in("file/below")))
        .isInstanceOf(org.apache.hadoop.fs.ParentNotDirectoryException.class);
    assertThatThrownBy(() -> fs.mkdirs(in("file/below")))
        .isInstanceOf(org.apache.hadoop.fs.ParentNotDirectoryException.class);
    assertThatThrownBy(() -> fs.mkdirs(in("file")))
        .isInstanceOf(org.apache.hadoop.fs.FileAlreadyExistsException.class);
    assertThatThrownBy(() -> fs.delete(HOME, false))
        .isInstanceOf(org.apache.hadoop.fs.PathIsNotEmptyDirectoryException.class);
    assertThatThrownBy(() -> fs.create(in("n".repeat(256))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("255");
    assertThat(fs.exists(in("file/below"))).isFalse();
    assertThat(fs.delete(in("file/below"), true)).isFalse();
    assertThat(fs.setReplication(HOME, (short) 2)).isFalse();
    assertThat(fs.listStatus(in("file"))).hasSize(1);
    assertThat(fs.listStatus(in("file"))[0].getPath()).isEqualTo(fs.makeQualified(in("file")));
  }
}
