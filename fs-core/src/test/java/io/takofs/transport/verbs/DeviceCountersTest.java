package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceCountersTest {
  @TempDir private Path directory;

  @Test
  void shouldReadWhatDriversCountOfReceiversThatWereNotReady() throws IOException {
    Files.writeString(directory.resolve("rnr_nak_retry_err"), "3\n");
    Files.writeString(directory.resolve("out_of_buffer"), "4\n");
    Files.writeString(directory.resolve("sent_pkts"), "5\n");
    assertThat(new DeviceCounters(directory).receiverNotReady())
        .isEqualTo(Map.of("rnr_nak_retry_err", 3L, "out_of_buffer", 4L));
  }

  @Test
  void shouldHaveNoneWhereTheDriverHasNone() {
    assertThat(new DeviceCounters(directory.resolve("missing")).receiverNotReady()).isEmpty();
  }
}
