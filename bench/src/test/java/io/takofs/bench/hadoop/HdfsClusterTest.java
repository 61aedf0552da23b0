package io.takofs.bench.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class HdfsClusterTest {
  private static final org.apache.hadoop.fs.Path FILE = new org.apache.hadoop.fs.Path("/a/file");
  private static final byte[] BYTES = {1, 2, 3, 4, 5};

  /** After the three JournalNodes. */
  private static final int ACTIVE_INDEX = 3;

  @TempDir private Path temporary;

  @Test
  void shouldKeepFilesAndLeaveNothing() throws Exception {
    Path directory = temporary.resolve("single");
    List<Long> pids;
    try (HdfsCluster cluster = HdfsCluster.single(directory, List.of(), 1);
        FileSystem client = cluster.client()) {
      pids = cluster.pids();
      assertThat(pids).hasSize(2).allMatch(HdfsClusterTest::isAlive);
      write(client);

      assertReadable(client);
    }

    assertThat(pids).noneMatch(HdfsClusterTest::isAlive);
    assertThat(directory).doesNotExist();
  }

  @Test
  void shouldServeFromTheSecondNameNodeWhatTheFirstWrote() throws Exception {
    Path directory = temporary.resolve("pair");
    List<Long> pids;
    try (HdfsCluster cluster = HdfsCluster.highlyAvailable(directory, List.of(), 1);
        FileSystem client = cluster.client()) {
      pids = cluster.pids();
      assertThat(pids).hasSize(6).allMatch(HdfsClusterTest::isAlive);
      assertThat(client.getUri().getAuthority()).isEqualTo(NameNodePair.SERVICE);
      write(client);
      ProcessHandle active = ProcessHandle.of(pids.get(ACTIVE_INDEX)).orElseThrow();
      active.destroyForcibly();
      active.onExit().get(1, TimeUnit.MINUTES);

      NameNodePair.activate(client.getConf(), NameNodePair.STANDBY);

      assertReadable(client);
      assertThat(client.delete(FILE, false)).isTrue();
    }

    assertThat(pids).noneMatch(HdfsClusterTest::isAlive);
    assertThat(directory).doesNotExist();
  }

  private static void write(FileSystem client) throws Exception {
    try (OutputStream out = client.create(FILE)) {
      out.write(BYTES);
    }
  }

  private static void assertReadable(FileSystem client) throws Exception {
    try (FSDataInputStream in = client.open(FILE)) {
      assertThat(in.readAllBytes()).isEqualTo(BYTES);
    }
  }

  private static boolean isAlive(long pid) {
    Optional<ProcessHandle> process = ProcessHandle.of(pid);
    return process.isPresent() && process.get().isAlive();
  }
}
