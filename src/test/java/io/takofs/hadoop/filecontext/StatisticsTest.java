package io.takofs.hadoop.filecontext;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.hadoop.TestServer;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FCStatisticsBaseTest;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.junit.Before;
import org.junit.jupiter.api.BeforeEach;

/** Hadoop's FileContext suite of statistics. */
public class StatisticsTest extends FCStatisticsBaseTest {
  @Before
  @BeforeEach
  public void connect() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fc = FileContext.getFileContext(conf);
    // Those of a server are shared with all other suites of this JVM.
    FileContext.clearStatistics();
  }

  @Override
  protected URI getFsUri() {
    return fc.getDefaultFileSystem().getUri();
  }

  /** The suite reads the file twice. */
  @Override
  protected void verifyReadBytes(Statistics stats) {
    assertThat(stats.getBytesRead()).isEqualTo(2L * blockSize * numBlocks);
  }

  @Override
  protected void verifyWrittenBytes(Statistics stats) {
    assertThat(stats.getBytesWritten()).isEqualTo((long) blockSize * numBlocks);
  }
}
