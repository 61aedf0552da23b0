package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.BlockPlaces;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An empty server comes to two that are not equally full. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RebalanceTest {
  private static final int COPIES = 2;
  private static final int FILES = 24;
  private static final int LENGTH = 4 << 20;
  private static final int BLOCK = 1 << 20;
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** What docs/operations.md promises, and a slab, which moves as a whole. */
  private static final double TOLERANCE = 0.05;

  private static final double SLAB = 16 << 20;

  @Test
  void shouldFillAnEmptyServerFromTheFullestOne() throws Exception {
    try (ServerCluster cluster =
            ServerCluster.startSome(
                2,
                new String[] {"256m", "512m", "512m"},
                "fs.tako.server.quarantine",
                "200ms",
                "fs.tako.repair.bandwidth",
                "0",
                "fs.tako.replication.min",
                "2");
        TakoClient client = Clients.connect(cluster.uri(), "tcp")) {
      ClusterHealth.awaitServers(client, 2, LIMIT);
      for (int i = 0; i < FILES; i++) {
        write(client, "/f" + i);
      }
      long replicas = ClusterHealth.of(client, cluster.servers().get(0)).getReplicas();
      cluster.startNext();
      ClusterHealth.awaitServers(client, 3, LIMIT);
      Poll.until(
          "no server is fuller or emptier than all are by more than 5 % and a slab",
          LIMIT, INTERVAL_NS, () -> isEven(cluster, client));
      int third = ClusterHealth.of(client, cluster.servers().get(2)).getEntry().getId();
      ClusterHealth.await( // for the report may be a little older than what files say
          client,
          "replicas at the third server",
          LIMIT,
          status ->
              status.getServersList().stream()
                  .anyMatch(each -> each.getEntry().getId() == third && each.getReplicas() > 0));
      // Nothing has moved twice.
      assertThat(client.administration().clusterStatus().getRepair().getSlabsDone())
          .isBetween(1L, replicas);
      check(client);
      cluster.servers().get(1).kill(); // so what has moved is read
      try (TakoClient other = Clients.connect(cluster.uri(), "tcp")) {
        check(other);
      }
      cluster.servers().get(1).restart();
      ClusterHealth.awaitServers(client, 3, LIMIT);
      Clients.checkNothingLeaks(client);
    }
  }

  private static void write(TakoClient client, String path) throws IOException {
    byte[] content = new byte[LENGTH];
    Pattern.fill(path, 0, content, LENGTH);
    try (TakoOutputStream out =
        client.create(path, CreateOptions.DEFAULT.withReplication(COPIES))) {
      out.write(content);
    }
  }

  private static void check(TakoClient client) throws IOException {
    for (int i = 0; i < FILES; i++) {
      byte[] content = Clients.read(client, "/f" + i);
      assertThat(content).hasSize(LENGTH);
      Pattern.check("/f" + i, content);
    }
  }

  private static boolean isEven(ServerCluster cluster, TakoClient client) throws IOException {
    Map<Integer, Long> bytes = bytesByPort(client);
    long all = 0;
    for (ServerProcess server : cluster.servers()) {
      all += ClusterHealth.dataBytes(client, server);
    }
    double mean = (double) COPIES * FILES * LENGTH / all;
    for (ServerProcess server : cluster.servers()) {
      long capacity = ClusterHealth.dataBytes(client, server);
      long used = bytes.getOrDefault(server.uri().getPort(), 0L);
      if (Math.abs(used - mean * capacity) > TOLERANCE * capacity + SLAB) {
        return false;
      }
    }
    return true;
  }

  /** How much of the files each server has. */
  private static Map<Integer, Long> bytesByPort(TakoClient client) throws IOException {
    Map<Integer, Long> bytes = new HashMap<>();
    for (int i = 0; i < FILES; i++) {
      for (BlockPlaces block : client.blockPlaces("/f" + i, 0, LENGTH, BLOCK)) {
        for (BlockPlaces.Host host : block.hosts()) {
          bytes.merge(host.port(), block.length(), Long::sum);
        }
      }
    }
    return bytes;
  }
}
