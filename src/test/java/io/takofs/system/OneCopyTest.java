package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.BlockPlaces;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files of one copy, while the servers die that they were to be on. */
class OneCopyTest {
  private static final int LENGTH = 3_000_000;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private final TreeMap<String, ServerProcess> files = new TreeMap<>();

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldWriteElsewhereWhenAServerHasDied() throws Exception {
    writeElsewhere("tcp");
  }

  @Test
  @Tag("long")
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldWriteElsewhereWhenAMappedServerHasDied() throws Exception {
    writeElsewhere("shm");
  }

  /** A client near the server with the namespace fills that one first: it is small. */
  private void writeElsewhere(String transport) throws Exception {
    try (ServerCluster cluster =
            ServerCluster.startWithPools(
                new String[] {"128m", "512m", "512m"}, "fs.tako.server.quarantine", "200ms");
        TakoClient client =
            Clients.connect(
                cluster.uri(),
                transport,
                "fs.tako.replication",
                "1",
                "fs.tako.client.replica.timeout",
                "2s")) {
      ClusterHealth.awaitServers(client, 3, LIMIT);
      while (write(cluster, client) == cluster.servers().get(0)) {
        assertThat(files.size()).isLessThan(100);
      }
      for (int round = 0; round < 2; round++) {
        ServerProcess dead = files.lastEntry().getValue();
        dead.kill();
        for (int i = 0; i < 5; i++) {
          assertThat(write(cluster, client)).isNotEqualTo(dead);
        }
        dead.restart();
        ClusterHealth.awaitServers(client, 3, LIMIT);
        for (String path : files.keySet()) {
          Pattern.check(path, Clients.read(client, path));
        }
      }
      Clients.checkNothingLeaks(client);
    }
  }

  /** Writes the next file, and returns where its first block is. */
  private ServerProcess write(ServerCluster cluster, TakoClient client) throws IOException {
    String path = "/file-%03d".formatted(files.size());
    byte[] content = new byte[LENGTH];
    Pattern.fill(path, 0, content, LENGTH);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
    BlockPlaces.Host host = client.blockPlaces(path, 0, 1, LENGTH).get(0).hosts().get(0);
    for (ServerProcess server : cluster.servers()) {
      if (server.uri().getPort() == host.port()) {
        files.put(path, server);
      }
    }
    return files.get(path);
  }
}
