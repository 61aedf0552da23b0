package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.ServerEntry.State;
import io.takofs.proto.ServerHealth;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One of four servers leaves under load, and does not lose its way when servers are killed. */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
class DecommissionTest {
  private static final int SERVERS = 4;
  private static final int LEAVING = 2; // in the list of servers
  private static final int FILES = 6;
  private static final int LENGTH = 8_000_000;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** Slow enough that servers can be killed in the middle. */
  private static final String SLOW = "1m";

  @Test
  void shouldMoveEverythingAwayWhileServersAreKilled() throws Exception {
    Random random = new Random(23);
    try (ServerCluster cluster =
            ServerCluster.start(
                SERVERS,
                "fs.tako.server.pool.size",
                "256m",
                "fs.tako.server.quarantine",
                "200ms",
                "fs.tako.replication.min",
                "2",
                "fs.tako.repair.bandwidth",
                SLOW);
        TakoClient client = ClusterLoad.connect(cluster.uri(), "tcp")) {
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
      for (int i = 0; i < FILES; i++) {
        write(client, i);
      }
      ServerProcess leaving = cluster.servers().get(LEAVING);
      int id = ClusterHealth.of(client, leaving).getEntry().getId();
      assertThat(ClusterHealth.of(client, leaving).getReplicas()).isPositive();
      Path site = cluster.writeSite();
      try (ClusterLoad load =
          new ClusterLoad(cluster.uri(), List.of("shm", "tcp"), List.of(2, 3), random)) {
        load.letThemWork(10);
        assertThat(remove(site, id)).startsWith("server " + id + " is DECOMMISSIONING: ");
        killWhileItLeaves(client, leaving, cluster.servers().get(0));
        killWhileItLeaves(client, leaving, leaving);
        until(
            "it is decommissioned",
            client,
            () -> {
              ServerHealth now = ClusterHealth.of(client, leaving);
              return now.getEntry().getState() == State.DECOMMISSIONED && now.getReplicas() == 0;
            });
        leaving.kill();
        load.letThemWork(20);
        load.verify();
        load.stop();
        check(cluster);
        assertThat(remove(site, id)).isEqualTo("server " + id + " is removed\n");
        until(
            "nothing is left of it",
            client,
            () -> client.administration().clusterStatus().getServersCount() == SERVERS - 1);
        load.clean();
      }
    }
  }

  private static void write(TakoClient client, int file) throws IOException {
    byte[] content = new byte[LENGTH];
    Pattern.fill("/f" + file, 0, content, LENGTH);
    CreateOptions options = CreateOptions.DEFAULT.withReplication(2 + file % 2);
    try (TakoOutputStream out = client.create("/f" + file, options)) {
      out.write(content);
    }
  }

  private static String remove(Path site, int server) throws Exception {
    return CommandLineRun.of(
            Map.of(), "cluster", "remove", Integer.toString(server), "--conf", site.toString())
        .output();
  }

  private static void killWhileItLeaves(
      TakoClient client, ServerProcess leaving, ServerProcess killed) throws Exception {
    until(
        "copies are made",
        client,
        () -> client.administration().clusterStatus().getRepair().getSlabsCopiedNow() > 0);
    ServerHealth now = ClusterHealth.of(client, leaving);
    assertThat(now.getEntry().getState()).isEqualTo(State.DECOMMISSIONING);
    assertThat(now.getReplicas()).isPositive();
    killed.kill();
    killed.restart();
  }

  private static void until(String what, TakoClient client, Callable<Boolean> condition)
      throws Exception {
    try {
      Poll.until(what, LIMIT, condition);
    } catch (AssertionError e) {
      throw new AssertionError(
          e.getMessage() + "; it says\n" + client.administration().clusterStatus(), e);
    }
  }

  private static void check(ServerCluster cluster) throws Exception {
    try (TakoClient reader = ClusterLoad.connect(cluster.uri(), "tcp")) {
      for (int i = 0; i < FILES; i++) {
        byte[] content = Clients.read(reader, "/f" + i);
        assertThat(content).hasSize(LENGTH);
        Pattern.check("/f" + i, content);
      }
    }
    CommandLineRun fsck =
        CommandLineRun.of(Map.of("TAKO_URI", cluster.uri().toString()), "fsck", "/");
    assertThat(fsck.output()).contains("HEALTHY");
    assertThat(fsck.code()).isZero();
  }
}
