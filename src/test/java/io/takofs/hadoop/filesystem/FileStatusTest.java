package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.AbstractFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The path of a status, which is made when it is asked for. */
class FileStatusTest {
  private static final Path DIRECTORY = new Path("/file-status");

  private final Configuration conf = new Configuration();
  private FileSystem fs;

  @BeforeEach
  void connect() throws IOException {
    TestServer.configure(conf);
    fs = FileSystem.newInstance(conf);
    fs.create(new Path(DIRECTORY, "a/f")).close();
    fs.mkdirs(new Path(DIRECTORY, "b"));
  }

  @AfterEach
  void close() throws IOException {
    fs.delete(DIRECTORY, true);
    fs.close();
  }

  private Path qualified(String name) {
    return new Path(fs.getUri().toString() + DIRECTORY + "/" + name);
  }

  @Test
  void shouldBeQualified() throws IOException {
    assertThat(fs.getFileStatus(new Path(DIRECTORY, "a/f")).getPath()).isEqualTo(qualified("a/f"));
    assertThat(fs.getFileStatus(qualified("a/f")).getPath()).isEqualTo(qualified("a/f"));
    assertThat(AbstractFileSystem.get(fs.getUri(), conf).getFileStatus(DIRECTORY).getPath())
        .isEqualTo(qualified("b").getParent());
    assertThat(fs.getFileStatus(new Path("/")).getPath()).isEqualTo(new Path(fs.getUri() + "/"));
  }

  @Test
  void shouldBeOfTheWorkingDirectoryAtTheTimeOfTheCall() throws IOException {
    fs.setWorkingDirectory(new Path(DIRECTORY, "a"));
    FileStatus status = fs.getFileStatus(new Path("f"));
    fs.setWorkingDirectory(new Path(DIRECTORY, "b"));
    assertThat(status.getPath()).isEqualTo(qualified("a/f"));
  }

  @Test
  void shouldOutliveItsFileSystemAndSerialization() throws Exception {
    FileStatus status;
    try (FileSystem other = FileSystem.newInstance(conf)) {
      status = other.getFileStatus(new Path(DIRECTORY, "a/f"));
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(status);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(((FileStatus) in.readObject()).getPath()).isEqualTo(qualified("a/f"));
    }
    assertThatThrownBy(() -> fs.getFileStatus(new Path(DIRECTORY, "a/f")).getSymlink())
        .hasMessageContaining(qualified("a/f").toString());
  }

  @Test
  void shouldRefuseThePathsOfOthers() throws IOException {
    AbstractFileSystem forContexts = AbstractFileSystem.get(fs.getUri(), conf);
    for (String other :
        new String[] {"tako://elsewhere:7420/file-status", "hdfs://nn/file-status"}) {
      assertThatThrownBy(() -> fs.getFileStatus(new Path(other)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(other);
      assertThatThrownBy(() -> forContexts.getFileStatus(new Path(other)))
          .isInstanceOf(InvalidPathException.class)
          .hasMessageContaining(other);
    }
  }
}
