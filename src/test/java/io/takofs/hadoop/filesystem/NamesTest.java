package io.takofs.hadoop.filesystem;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.InvalidPathHandleException;
import org.apache.hadoop.fs.Options.HandleOpt;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.RawPathHandle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Etags, path handles, storage policies and capabilities: what Hadoop's suites leave out. */
class NamesTest {
  private static final Path HOME = new Path("/names-test");
  private static final Path FILE = new Path(HOME, "directory/file");

  private final Configuration conf = new Configuration();
  private FileSystem fs;

  @BeforeEach
  void connect() throws IOException {
    TestServer.configure(conf);
    fs = FileSystem.get(conf);
    fs.delete(HOME, true);
    write(FILE, "content");
  }

  private void write(Path path, String content) throws IOException {
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(content.getBytes(UTF_8));
    }
  }

  private String read(PathHandle handle) throws IOException {
    try (FSDataInputStream in = fs.open(handle)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  private String etag() throws IOException {
    return ((EtagSource) fs.getFileStatus(FILE)).getEtag();
  }

  @Test
  void shouldChangeAnEtagWithEveryChangeOfContentAndNoOther() throws IOException {
    String etag = etag();
    fs.setTimes(FILE, 1, 2);
    fs.setReplication(FILE, (short) 3);
    assertThat(etag()).isEqualTo(etag);
    fs.append(FILE).close();
    fs.truncate(FILE, 3);
    String truncated = etag();
    assertThat(truncated).isNotEqualTo(etag);
    write(FILE, "con");
    assertThat(etag()).isNotEqualTo(truncated);
    assertThat(((EtagSource) fs.getFileStatus(HOME)).getEtag()).isNull();
  }

  @Test
  void shouldFollowAFileBelowARenamedDirectory() throws IOException {
    PathHandle moving = fs.getPathHandle(fs.getFileStatus(FILE), HandleOpt.content());
    PathHandle staying = fs.getPathHandle(fs.listStatus(FILE.getParent())[0]);
    assertThat(read(staying)).isEqualTo("content");
    fs.rename(FILE.getParent(), new Path(HOME, "elsewhere"));
    assertThat(read(new RawPathHandle(moving.bytes()))).isEqualTo("content");
    assertThatThrownBy(() -> read(staying)).isInstanceOf(InvalidPathHandleException.class);
  }

  @Test
  void shouldTellAFileFromAnotherInItsPlace() throws IOException {
    FileStatus seen = fs.listLocatedStatus(FILE.getParent()).next();
    write(FILE, "another");
    for (HandleOpt[] options :
        List.of(HandleOpt.exact(), HandleOpt.content(), HandleOpt.reference())) {
      PathHandle handle = fs.getPathHandle(seen, options);
      assertThatThrownBy(() -> read(handle)).isInstanceOf(InvalidPathHandleException.class);
    }
    assertThat(read(fs.getPathHandle(seen, HandleOpt.path()))).isEqualTo("another");
  }

  @Test
  void shouldRefuseHandlesThatCannotBe() throws IOException {
    FileStatus directory = fs.getFileStatus(HOME);
    assertThatThrownBy(() -> fs.getPathHandle(directory))
        .isInstanceOf(IllegalArgumentException.class);
    FileStatus foreign = new FileStatus(1, false, 1, 1, 0, fs.makeQualified(FILE));
    assertThatThrownBy(() -> fs.getPathHandle(foreign))
        .isInstanceOf(IllegalArgumentException.class);
    byte[] bytes = fs.getPathHandle(fs.getFileStatus(FILE)).toByteArray();
    for (int length : new int[] {0, 1, 10}) {
      PathHandle cut = new RawPathHandle(ByteBuffer.wrap(bytes, 0, length));
      assertThatThrownBy(() -> fs.open(cut)).isInstanceOf(InvalidPathHandleException.class);
    }
  }

  @Test
  void shouldKeepEverythingInMemory() throws IOException {
    FileContext context = FileContext.getFileContext(conf);
    assertThat(fs.getAllStoragePolicies()).hasSize(1);
    assertThat(fs.getStoragePolicy(FILE).getName()).isEqualTo("MEMORY");
    assertThat(context.getStoragePolicy(FILE).getName()).isEqualTo("MEMORY");
    fs.setStoragePolicy(FILE, "memory");
    fs.satisfyStoragePolicy(FILE);
    fs.unsetStoragePolicy(HOME);
    assertThatThrownBy(() -> fs.setStoragePolicy(FILE, "ALL_SSD"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("MEMORY");
    Path missing = new Path(HOME, "missing");
    assertThatThrownBy(() -> fs.getStoragePolicy(missing))
        .isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.setStoragePolicy(missing, "MEMORY"))
        .isInstanceOf(FileNotFoundException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        CommonPathCapabilities.FS_CONCAT,
        CommonPathCapabilities.FS_PATHHANDLES,
        CommonPathCapabilities.FS_MULTIPART_UPLOADER,
        CommonPathCapabilities.LEASE_RECOVERABLE,
      })
  void shouldHaveWhatOnlyAFileSystemHas(String capability) throws IOException {
    assertThat(fs.hasPathCapability(HOME, capability)).isTrue();
    assertThat(FileContext.getFileContext(conf).hasPathCapability(HOME, capability)).isFalse();
  }

  @Test
  void shouldHaveNoSymlinks() throws IOException {
    assertThat(fs.supportsSymlinks()).isFalse();
    assertThat(fs.hasPathCapability(HOME, CommonPathCapabilities.FS_SYMLINKS)).isFalse();
    assertThatThrownBy(() -> fs.createSymlink(FILE, new Path(HOME, "link"), false))
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
