package io.takofs.hadoop.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.config.TransportChoice;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class ClientConfigTest {
  private final Configuration conf = new Configuration(false);

  @Test
  void shouldTakeTakosKeysFromHadoopsConfiguration() throws IOException {
    conf.set("fs.tako.transport", "tcp");
    conf.set("my.block.size", "1m");
    conf.set("fs.tako.block.size", "${my.block.size}");
    conf.set("fs.s3a.block.size", "none of Tako's business");
    TakoConfig config = ClientConfig.of(conf);
    assertThat(config.get(ConfigKeys.TRANSPORT)).isEqualTo(TransportChoice.TCP);
    assertThat(config.get(ConfigKeys.BLOCK_SIZE)).isEqualTo(1L << 20);
    assertThat(config.warnings()).isEmpty();
  }

  @Test
  void shouldLeaveHadoopsOwnKeysToHadoop() throws IOException {
    conf.set("fs.tako.impl", "io.takofs.hadoop.TakoFileSystem");
    conf.set("fs.tako.impl.disable.cache", "true");
    assertThat(ClientConfig.of(conf).warnings()).isEmpty();
  }

  @Test
  void shouldWarnOfAKeyThatDoesNotExist() throws IOException {
    conf.set("fs.tako.transprot", "tcp");
    assertThat(ClientConfig.of(conf).warnings())
        .hasSize(1)
        .allMatch(warning -> warning.contains("fs.tako.transport"));
  }

  @Test
  void shouldNameKeyAndValueThatAreWrong() {
    conf.set("fs.tako.block.size", "huge");
    assertThatThrownBy(() -> ClientConfig.of(conf))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("fs.tako.block.size")
        .hasMessageContaining("huge");
  }
}
