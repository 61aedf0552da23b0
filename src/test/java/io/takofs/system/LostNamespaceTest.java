package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.ClusterStatus;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class LostNamespaceTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** What the other server has is not given to the empty namespace until somebody says so. */
  @Test
  @Timeout(value = 3, unit = TimeUnit.MINUTES)
  void shouldNotGiveTheSlabsOfALostNamespaceToTheNextOne() throws Exception {
    try (ServerCluster cluster = ServerCluster.start(2, "fs.tako.server.pool.size", "256m")) {
      try (TakoClient client = connect(cluster)) {
        Poll.until("two servers", LIMIT, () -> serversHeard(client) == 2);
        write(client, "/before", 2);
      }
      cluster.lose(0);
      try (TakoClient client = connect(cluster)) {
        assertThat(Clients.list(client, "/")).isEmpty();
        Poll.until("a refusal", LIMIT, () -> status(client).getWarningsCount() > 0);
        assertThat(status(client).getWarnings(0))
            .contains("slabs have data of the namespace that group 1 had before", "--format");
        write(client, "/with-one-copy", 2);
      }
      cluster.lose(1);
      try (TakoClient client = connect(cluster)) {
        Poll.until("no refusal", LIMIT, () -> status(client).getWarningsCount() == 0);
        Poll.until("two servers", LIMIT, () -> serversHeard(client) == 2);
        write(client, "/another-kind-of-slab", 3);
        Poll.until("slabs of both servers", LIMIT, () -> serversWithSlabs(client) == 2);
      }
    }
  }

  /** The server joins again when the session of the former one is over, 10 s. */
  private static TakoClient connect(ServerCluster cluster) throws Exception {
    return Clients.connect(cluster.uri(), "tcp", "fs.tako.client.connect.timeout", "30s");
  }

  private static ClusterStatus status(TakoClient client) throws Exception {
    return client.administration().clusterStatus();
  }

  private static long serversHeard(TakoClient client) throws Exception {
    return status(client).getServersList().stream()
        .filter(each -> each.getHeard() && each.getTrouble().isEmpty())
        .count();
  }

  private static long serversWithSlabs(TakoClient client) throws Exception {
    return status(client).getServersList().stream().filter(each -> each.getReplicas() > 0).count();
  }

  private static void write(TakoClient client, String path, int copies) throws Exception {
    byte[] content = new byte[1_000_000];
    new Random(1).nextBytes(content);
    try (TakoOutputStream out =
        client.create(path, CreateOptions.DEFAULT.withReplication(copies))) {
      out.write(content, 0, content.length);
    }
    assertThat(Clients.read(client, path)).isEqualTo(content);
  }
}
