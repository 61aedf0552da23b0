package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerUriTest {
  @Test
  void shouldGiveOneServerOneUri() throws TakoException {
    URI canonical = URI.create("tako://host:7420");
    assertThat(ServerUri.parse("tako://host")).isEqualTo(canonical);
    assertThat(ServerUri.parse("tako://HOST/a/b")).isEqualTo(canonical);
    assertThat(ServerUri.parse("tako://host:7420/")).isEqualTo(canonical);
    assertThat(ServerUri.parse("tako://host:1")).isNotEqualTo(canonical);
    assertThat(ServerUri.parse("tako://[::1]/a")).isEqualTo(URI.create("tako://[::1]:7420"));
  }

  @Test
  void shouldIgnoreAPathWithCharactersOfNoUri() throws TakoException {
    assertThat(ServerUri.parse("tako://host:1/a b%c")).isEqualTo(URI.create("tako://host:1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "host",
        "host:1",
        "tako:host",
        "tako:///a",
        "tako://a b",
        "tako://user@host",
        "tako://host:65536",
        "hdfs://host"
      })
  void shouldSayHowToWriteAServersUri(String text) {
    TakoException refused = catchThrowableOfType(() -> ServerUri.parse(text), TakoException.class);
    assertThat(refused.status()).isEqualTo(Status.INVALID_ARGUMENT);
    assertThat(refused)
        .hasMessageContaining("'" + text + "'")
        .hasMessageContaining("tako://host:port");
  }
}
