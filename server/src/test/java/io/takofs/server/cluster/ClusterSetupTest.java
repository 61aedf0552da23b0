package io.takofs.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.server.catalog.ConfigStore;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterSetupTest {
  @TempDir private Path directory;

  private static TakoConfig config(String servers, String host) throws TakoException {
    return new TakoConfig()
        .set(ConfigKeys.CLUSTER_SERVERS, servers)
        .set(ConfigKeys.SERVER_HOST, host);
  }

  @Test
  void shouldKeepTheCatalogWhereItIsConfigured() throws Exception {
    TakoConfig config = config("127.0.0.1:71,127.0.0.1:72", "127.0.0.1");
    config.set(ConfigKeys.CATALOG_DIR, directory.toString());
    try (ConfigStore store = new ClusterSetup(config).catalog(null)) {
      assertThat(store.description()).startsWith(directory.toString());
      assertThat(store.get("map").isPresent()).isFalse();
    }
    assertThat(new ClusterSetup(new TakoConfig()).isCluster()).isFalse();
    assertThat(catchThrowable(() -> new ClusterSetup(new TakoConfig()).catalog(null)))
        .hasMessageContaining("there is no cluster");
  }
}
