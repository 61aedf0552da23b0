package io.takofs.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.Test;

class TakoUrisTest {
  @Test
  void shouldGiveOneFileSystemOneUri() throws IOException {
    URI canonical = URI.create("tako://host:7420");
    assertThat(TakoUris.canonical(URI.create("tako://host"))).isEqualTo(canonical);
    assertThat(TakoUris.canonical(URI.create("tako://HOST/a/b"))).isEqualTo(canonical);
    assertThat(TakoUris.canonical(URI.create("tako://host:7420/"))).isEqualTo(canonical);
    assertThat(TakoUris.canonical(URI.create("tako://host:1"))).isNotEqualTo(canonical);
  }

  @Test
  void shouldSayHowToWriteAUriWithoutHost() {
    assertThatThrownBy(() -> TakoUris.canonical(URI.create("tako:///a")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tako:///a")
        .hasMessageContaining("tako://host:port/");
  }

  @Test
  void shouldRefuseAnotherScheme() {
    assertThatThrownBy(() -> TakoUris.canonical(URI.create("hdfs://host")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("hdfs://host");
  }
}
