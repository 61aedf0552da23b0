package io.takofs.hadoop.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class SharedClientsTest {
  private static final URI SERVER = URI.create("tako://localhost:7420");

  private final Configuration conf = new Configuration(false);

  @Test
  void shouldShareTheClientOfOneUser() throws IOException {
    assertThat(SharedClients.get(SERVER, "alice", conf))
        .isSameAs(SharedClients.get(SERVER, "alice", conf));
    assertThat(SharedClients.get(SERVER, "bob", conf))
        .isNotSameAs(SharedClients.get(SERVER, "alice", conf));
  }

  @Test
  void shouldForgetClientsWithoutAConnection() throws IOException {
    for (int i = 0; i < 1000; i++) {
      SharedClients.get(SERVER, "user-" + i, conf);
    }
    assertThat(SharedClients.count()).isEqualTo(1);
  }
}
