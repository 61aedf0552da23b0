package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A client that rests while another server begins to lead, longer than a session lives without its
 * client, so that the server that leads now has ended its session.
 */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class IdleClientTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final String[] TTL = {"fs.tako.server.session.ttl", "2s"};

  @Test
  void shouldMakeAChangeAfterTheLeaderHasMoved() throws Exception {
    try (ServerCluster cluster = ServerCluster.start(3, TTL);
        TakoClient other = ClusterClients.connect(cluster, "tcp")) {
      GroupHealth.awaitMembers(other, 3, LIMIT);
      for (String transport : List.of("shm", "tcp")) {
        try (TakoClient idle = ClusterClients.connect(cluster, transport)) {
          idle.mkdirs("/before-" + transport);
          GroupHealth.awaitLead(other, follower(other), LIMIT);
          Poll.until("one session is left", LIMIT, () -> sessions(other) == 1);
          idle.mkdirs("/after-" + transport);
          assertThat(other.getStatus("/after-" + transport).directory()).isTrue();
        }
      }
    }
  }

  /** Its connection stands, and nobody answers there. */
  @Test
  void shouldMakeAChangeAfterTheLeaderHasFrozen() throws Exception {
    try (ServerCluster cluster = ServerCluster.start(3, TTL);
        TakoClient other = ClusterClients.connect(cluster, "tcp");
        TakoClient idle = ClusterClients.connect(cluster, "tcp")) {
      GroupHealth.awaitMembers(other, 3, LIMIT);
      idle.mkdirs("/before");
      ServerProcess frozen = ClusterHealth.awaitLeader(other, cluster, LIMIT);
      frozen.signal("STOP");
      try {
        Poll.until("one session is left", LIMIT, () -> sessions(other) == 1);
        idle.mkdirs("/after");
        assertThat(other.getStatus("/after").directory()).isTrue();
      } finally {
        frozen.signal("CONT");
      }
    }
  }

  private static int follower(TakoClient client) throws Exception {
    ClusterStatus status = client.administration().clusterStatus();
    return GroupHealth.members(status).stream()
        .filter(id -> id != status.getLeader())
        .findFirst()
        .orElseThrow();
  }

  private static long sessions(TakoClient client) throws Exception {
    return client.serverStatus().getCountersOrDefault("sessions", 0);
  }
}
