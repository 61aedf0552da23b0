package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.ClusterStatus;
import io.takofs.server.report.Clusters;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two of four servers die: copies are made again only when a superuser says so.
 *
 * <p>The files are written before the third and the fourth server join, and nothing is moved to
 * those: so the second and the third, which die, have no slab in common that would be lost.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ForcedRepairTest {
  private static final int FILES = 3;
  private static final int LENGTH = 20_000_000;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private static ClusterStatus status(TakoClient client) throws IOException {
    return client.administration().clusterStatus();
  }

  private static CommandLineRun tako(ServerCluster cluster, String... words) throws Exception {
    return CommandLineRun.of(Map.of("TAKO_URI", cluster.uri().toString()), words);
  }

  private static void check(TakoClient client) throws IOException {
    for (int i = 0; i < FILES; i++) {
      Pattern.check("/f" + i, Clients.read(client, "/f" + i));
    }
  }

  @Test
  void shouldGoOnWithoutHalfOfTheServers() throws Exception {
    try (ServerCluster cluster =
            ServerCluster.startSome(
                2,
                new String[4],
                "fs.tako.server.pool.size",
                "256m",
                "fs.tako.server.quarantine",
                "200ms",
                "fs.tako.server.dead.interval",
                "2s",
                "fs.tako.repair.bandwidth",
                "0",
                "fs.tako.replication.min",
                "2",
                "fs.tako.rebalance.enabled",
                "false",
                "fs.tako.group.members",
                "1"); // half of the members could not go on
        TakoClient client = Clients.connect(cluster.uri(), "tcp")) {
      ClusterHealth.awaitServers(client, 2, LIMIT);
      for (int i = 0; i < FILES; i++) {
        byte[] content = new byte[LENGTH];
        Pattern.fill("/f" + i, 0, content, LENGTH);
        CreateOptions options = CreateOptions.DEFAULT.withReplication(2);
        try (TakoOutputStream out = client.create("/f" + i, options)) {
          out.write(content);
        }
      }
      cluster.startNext();
      cluster.startNext();
      ClusterHealth.awaitServers(client, 4, LIMIT);
      for (ServerProcess server : cluster.servers().subList(2, 4)) {
        assertThat(ClusterHealth.of(client, server).getReplicas()).isZero();
      }
      List<Integer> dead = new ArrayList<>();
      for (ServerProcess server : cluster.servers().subList(1, 3)) {
        dead.add(ClusterHealth.of(client, server).getEntry().getId());
        server.kill();
      }
      dead.sort(null);
      ClusterHealth.await(
          client,
          "repair waits for those that are dead",
          LIMIT,
          now -> now.getRepair().getWaitsForList().equals(dead));
      assertThat(tako(cluster, "repair").output())
          .contains("nothing is copied before " + Clusters.names(dead) + " answer");
      assertThat(tako(cluster, "status").output())
          .contains(Clusters.names(dead) + " are silent", "tako repair --force");
      assertThat(tako(cluster, "doctor", cluster.uri().toString()).output())
          .contains(Clusters.names(dead) + " are silent, more than a third: no copy is made again");
      assertThat(tako(cluster, "repair", "--user", "stranger", "--force").output())
          .contains("PERMISSION_DENIED", "stranger");
      assertThat(status(client).getRepair().getGoesWithoutList()).isEmpty();

      assertThat(tako(cluster, "repair", "--force").output())
          .contains("it goes on without " + Clusters.names(dead));
      ClusterHealth.await(
          client,
          "all slabs have both copies elsewhere, and are open",
          LIMIT,
          now ->
              now.getSlabsList().stream().allMatch(each -> each.getState().equals("open"))
                  && now.getServersList().stream()
                      .filter(each -> dead.contains(each.getEntry().getId()))
                      .allMatch(each -> each.getReplicas() == 0));
      assertThat(tako(cluster, "status").output()).contains("without waiting for");
      check(client);

      for (ServerProcess server : cluster.servers().subList(1, 3)) {
        server.restart();
      }
      ClusterHealth.awaitServers(client, 4, LIMIT);
      ClusterHealth.await(
          client,
          "nobody is left out any more",
          LIMIT,
          now -> now.getRepair().getGoesWithoutCount() == 0);
      check(client);
      Clients.checkNothingLeaks(client);
    }
  }
}
