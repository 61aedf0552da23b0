package io.takofs.hadoop.filesystem;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ClusterStorageCapacityExceededException;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Quotas through Hadoop: its API, its exceptions and its command line. */
class QuotaTest {
  private static final Path DIRECTORY = new Path("/quota");
  private static final Path FILE = new Path(DIRECTORY, "file");
  private static final long UNCHANGED = Long.MAX_VALUE;

  private Configuration conf;
  private FileSystem fs;

  @BeforeEach
  void connect() throws IOException {
    conf = new Configuration();
    TestServer.configure(conf);
    fs = FileSystem.newInstance(conf);
    fs.mkdirs(DIRECTORY);
  }

  @AfterEach
  void disconnect() throws IOException {
    fs.delete(DIRECTORY, true);
    fs.close();
  }

  private void write(Path path, int bytes) throws IOException {
    try (OutputStream out = fs.create(path, (short) 1)) {
      out.write(new byte[bytes]);
    }
  }

  private void assertExceeded(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(ClusterStorageCapacityExceededException.class)
        .hasMessageContaining("quota");
  }

  @Test
  void shouldLimitNames() throws IOException {
    fs.setQuota(DIRECTORY, 2, UNCHANGED);
    write(FILE, 10);
    assertExceeded(() -> fs.create(new Path(DIRECTORY, "more")).close());
    assertExceeded(() -> fs.mkdirs(new Path(DIRECTORY, "more")));
    ContentSummary summary = fs.getContentSummary(DIRECTORY);
    assertThat(summary.getQuota()).isEqualTo(2);
    assertThat(summary.getSpaceQuota()).isEqualTo(-1);
    assertThat(fs.getContentSummary(FILE).getQuota()).isEqualTo(-1);
    fs.setQuota(DIRECTORY, -1, UNCHANGED);
    assertThat(fs.mkdirs(new Path(DIRECTORY, "more"))).isTrue();
  }

  @Test
  void shouldLimitSpaceWithoutLosingWhatFits() throws IOException {
    fs.setQuota(DIRECTORY, UNCHANGED, 1 << 20);
    write(FILE, 1 << 20);
    Path more = new Path(DIRECTORY, "more");
    assertExceeded(() -> write(more, 100_000));
    fs.delete(more, false);
    fs.truncate(FILE, 500_000);
    write(more, 400_000);
    QuotaUsage usage = fs.getQuotaUsage(DIRECTORY);
    assertThat(usage.getSpaceQuota()).isEqualTo(1 << 20);
    assertThat(usage.getSpaceConsumed()).isEqualTo(900_000);
    assertThat(usage.getFileAndDirectoryCount()).isEqualTo(3);
    assertThat(usage.getQuota()).isEqualTo(-1);
  }

  @Test
  void shouldLetAWriterUseAllThatItMayAndKeepWhatItFlushed() throws IOException {
    fs.setQuota(DIRECTORY, UNCHANGED, 300_000);
    var out = fs.create(FILE, (short) 1);
    out.write(new byte[100_000]);
    out.hflush();
    assertExceeded(
        () -> {
          out.write(new byte[400_000]);
          out.hflush();
        });
    assertExceeded(out::close);
    fs.setQuota(DIRECTORY, UNCHANGED, -1);
    assertThat(fs.getFileStatus(FILE).getLen()).isGreaterThanOrEqualTo(100_000);
  }

  @Test
  void shouldHaveRoomAgainForWhatIsWrittenAfterADelete() throws IOException {
    fs.setQuota(DIRECTORY, 60, 1 << 20);
    for (int round = 0; round < 5; round++) {
      Path tree = new Path(DIRECTORY, "tree");
      for (int i = 0; i < 24; i++) {
        write(new Path(tree, "d" + i + "/f"), 40_000);
      }
      fs.delete(tree, true);
    }
    for (int i = 0; i < 24; i++) {
      write(new Path(DIRECTORY, "f" + i), 40_000);
    }
    assertThat(fs.getQuotaUsage(DIRECTORY).getFileAndDirectoryCount()).isEqualTo(25);
  }

  @Test
  void shouldSayWhatIsLeftOnTheCommandLine() throws Exception {
    write(FILE, 1000);
    fs.setQuota(DIRECTORY, 10, 5000);
    assertThat(count("-q")).startsWith("10 8 5000 4000 1 1 1000");
    assertThat(count("-u")).startsWith("10 8 5000 4000");
  }

  private String count(String option) throws Exception {
    PrintStream stdout = System.out;
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    System.setOut(new PrintStream(output, true, UTF_8));
    try {
      String[] command = {"-count", option, DIRECTORY.toString()};
      assertThat(ToolRunner.run(conf, new FsShell(), command)).isZero();
    } finally {
      System.setOut(stdout);
    }
    return Arrays.stream(output.toString(UTF_8).strip().split("\\s+", -1))
        .collect(Collectors.joining(" "));
  }

  @Test
  void shouldRefuseWhatMeansNothing() throws IOException {
    assertThatThrownBy(() -> fs.setQuota(DIRECTORY, 0, UNCHANGED))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fs.setQuota(DIRECTORY, UNCHANGED, -2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fs.setQuotaByStorageType(DIRECTORY, StorageType.SSD, 1))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("one kind of storage");
    write(FILE, 1);
    assertThatThrownBy(() -> fs.setQuota(FILE, 5, UNCHANGED))
        .isInstanceOfAny(java.io.FileNotFoundException.class, ParentNotDirectoryException.class);
  }
}
