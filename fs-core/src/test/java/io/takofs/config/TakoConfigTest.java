package io.takofs.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TakoConfigTest {
  @Test
  void shouldGiveDefaultsUntilSet() throws TakoException {
    TakoConfig config = new TakoConfig();
    assertThat(config.get(ConfigKeys.CLIENT_TIMEOUT)).isEqualTo(Duration.ofSeconds(30));
    assertThat(config.get(ConfigKeys.TRANSPORT)).isEqualTo(TransportChoice.AUTO);
    config.set(ConfigKeys.CLIENT_TIMEOUT, Duration.ofMillis(1500));
    config.set("fs.tako.transport", " SHM ");
    assertThat(config.get(ConfigKeys.CLIENT_TIMEOUT)).isEqualTo(Duration.ofMillis(1500));
    assertThat(config.get(ConfigKeys.TRANSPORT)).isEqualTo(TransportChoice.SHM);
  }

  @ParameterizedTest
  @CsvSource({"65536,65536", "64k,65536", "256M,268435456", "4g,4294967296", "1 t,1099511627776"})
  void shouldReadSizesWithUnits(String text, long bytes) throws TakoException {
    TakoConfig config = new TakoConfig().set("fs.tako.block.size", text);
    assertThat(config.get(ConfigKeys.BLOCK_SIZE)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource({"500ms,500", "10s,10000", "2m,120000", "1h,3600000"})
  void shouldReadDurationsWithUnits(String text, long millis) throws TakoException {
    TakoConfig config = new TakoConfig().set("fs.tako.client.timeout", text);
    assertThat(config.get(ConfigKeys.CLIENT_TIMEOUT)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "m", "-1", "1x", "9999999999999999999t", "1.5g", "2t", "63k"})
  void shouldRefuseImpossibleSizes(String text) {
    assertThatThrownBy(() -> new TakoConfig().set("fs.tako.block.size", text))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("fs.tako.block.size")
        .hasMessageContaining("'" + text + "'");
  }

  @ParameterizedTest
  @CsvSource({
    "fs.tako.transport,carrier-pigeon",
    "fs.tako.replication,-1",
    "fs.tako.replication,513",
    "fs.tako.replication,many",
    "fs.tako.server.port,65536",
    "fs.tako.server.permissions.enabled,yes",
    "fs.tako.client.timeout,30",
    "fs.tako.server.groups,=staff"
  })
  void shouldRefuseImpossibleValues(String name, String text) {
    assertThatThrownBy(() -> new TakoConfig().set(name, text))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("allowed is");
  }

  @Test
  void shouldSayWhyAListOfServersIsRefused() {
    assertThatThrownBy(() -> new TakoConfig().set("fs.tako.cluster.servers", "A:1,b:1,a:1"))
        .hasMessageContaining("is 'A:1,b:1,a:1' (a:1 is there twice); allowed is host:port");
  }

  @ParameterizedTest
  @ValueSource(strings = {"fs.tako.cluster.servers", "fs.tako.cluster.bay.servers"})
  void shouldRefuseAListOfCommas(String name) throws TakoException {
    for (String commas : List.of(",", ",,", " , ")) {
      assertThatThrownBy(() -> new TakoConfig().set(name, commas))
          .hasMessageContaining(name + " is '" + commas + "' (it has commas and names no server)")
          .hasMessageContaining("allowed is host:port,host:port (the port is 7420 where");
    }
    new TakoConfig().set(name, "").set(name, " ").set(name, "a,,b:1,");
  }

  @Test
  void shouldWarnOfUnknownKeysWithTheNearest() throws TakoException {
    TakoConfig config =
        TakoConfig.of(
            Map.of("fs.tako.blok.size", "64m", "fs.defaultFS", "tako://host").entrySet(), "here");
    assertThat(config.warnings())
        .containsExactly(
            "here: unknown key fs.tako.blok.size is ignored; did you mean fs.tako.block.size?");
  }

  @Test
  void shouldReadBackWhatItFormats() {
    for (ConfigKey<?> key : ConfigKeys.all()) {
      assertThat(format(key)).describedAs(key.name()).isEqualTo(key.defaultText());
    }
  }

  private static <T> String format(ConfigKey<T> key) {
    return key.format(key.defaultValue());
  }
}
