package io.takofs.hadoop.filecontext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Options of {@code FileContext.openFile}'s builder, and its statistics. */
class OpenFileTest {
  private static final Path FILE = new Path("/opened-by-context");

  private final byte[] content = new byte[200_000];
  private FileContext context;

  @BeforeEach
  void write() throws IOException {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    context = FileContext.getFileContext(conf);
    new Random(6).nextBytes(content);
    EnumSet<CreateFlag> flags = EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE);
    try (FSDataOutputStream out = context.create(FILE, flags)) {
      out.write(content);
    }
  }

  @AfterEach
  void delete() throws IOException {
    context.delete(FILE, false);
  }

  @Test
  void shouldOpenAsTheBuilderIsTold() throws Exception {
    try (FSDataInputStream in =
        context
            .openFile(FILE)
            .must("fs.option.openfile.read.policy", "random")
            .must("fs.option.openfile.split.start", "100000")
            .opt("fs.tako.unheard.of", "1")
            .build()
            .get()) {
      byte[] all = new byte[content.length];
      in.readFully(all);
      assertThat(all).isEqualTo(content);
    }
    assertThatThrownBy(() -> context.openFile(FILE).must("fs.tako.unheard.of", "1").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fs.tako.unheard.of");
    assertThatThrownBy(() -> context.openFile(new Path("/none")).build().get())
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(FileNotFoundException.class);
  }

  @Test
  void shouldCountOperationsAndTheirDurations() throws Exception {
    IOStatistics statistics =
        ((IOStatisticsSource) context.getDefaultFileSystem()).getIOStatistics();
    context.getFileStatus(FILE);
    assertThatThrownBy(() -> context.getFileStatus(new Path("/none")))
        .isInstanceOf(FileNotFoundException.class);
    context.open(FILE).close();
    context.openFile(FILE).build().get().close();
    assertThat(statistics.counters())
        .containsEntry(StoreStatisticNames.OP_CREATE, 1L)
        .containsEntry(StoreStatisticNames.OP_GET_FILE_STATUS, 2L)
        .containsEntry(StoreStatisticNames.OP_GET_FILE_STATUS + ".failures", 1L)
        .containsEntry(StoreStatisticNames.OP_OPEN, 2L)
        .containsEntry(StoreStatisticNames.OP_DELETE, 0L);
    assertThat(statistics.meanStatistics().get(StoreStatisticNames.OP_OPEN + ".mean").getSamples())
        .isEqualTo(2);
  }
}
