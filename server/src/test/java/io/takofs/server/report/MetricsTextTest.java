package io.takofs.server.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.ExtentStatus;
import io.takofs.proto.OperationStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SlabStatus;
import io.takofs.proto.TransportStatus;
import io.takofs.server.metrics.LatencyBuckets;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MetricsTextTest {
  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-z_]+)(\\{[a-z]+=\"(?:[^\"\\\\]|\\\\.)*\"(?:,[a-z]+=\"(?:[^\"\\\\]|\\\\.)*\")*})? \\S+");

  private static String text() {
    OperationStatus.Builder list =
        OperationStatus.newBuilder().setOperation("list").setCalls(4).setRefused(1);
    for (int bucket = 0; bucket <= LatencyBuckets.of(5000); bucket++) {
      list.addLatencies(bucket == 0 || bucket == LatencyBuckets.of(5000) ? 2 : 0);
    }
    return MetricsText.of(
        ServerStatus.newBuilder()
            .setVersion("1\"\\\n2")
            .setUptimeMs(1500)
            .addOperations(list.setTotalNs(2_000_000))
            .addExtents(ExtentStatus.newBuilder().setState("granted").setExtents(3).setBytes(9))
            .addTransports(
                TransportStatus.newBuilder().setTransport("tcp").putCounters("bytes", 77))
            .addConnections(ConnectionStatus.newBuilder().setTransport("tcp"))
            .putCounters("refused.not_found", 1)
            .build(),
        cluster(1));
  }

  private static ClusterStatus cluster(int leader) {
    return ClusterStatus.newBuilder()
        .setServer(1)
        .setLeader(leader)
        .addServers(ServerHealth.getDefaultInstance())
        .addServers(ServerHealth.newBuilder().setTrouble("silent"))
        .addServers(ServerHealth.getDefaultInstance())
        .addSlabs(SlabStatus.newBuilder().setState("short").setSlabs(4))
        .setRepair(RepairStatus.newBuilder().setBytesLeft(5).setWrongCopies(6))
        .build();
  }

  @Test
  void shouldLetTheLeaderAloneSpeakOfTheCluster() {
    ServerStatus status = ServerStatus.getDefaultInstance();
    assertThat(MetricsText.of(status, cluster(1))).contains("tako_repair_bytes_left 5\n");
    assertThat(MetricsText.of(status, cluster(2))).doesNotContain("tako_repair");
    assertThat(MetricsText.of(status, ClusterStatus.getDefaultInstance()))
        .doesNotContain("tako_repair");
  }

  @Test
  void shouldLetEachServerOfAClusterSayWhoLeads() {
    ServerStatus status = ServerStatus.getDefaultInstance();
    assertThat(MetricsText.of(status, cluster(2))).contains("tako_cluster_leader 2\n");
    assertThat(MetricsText.of(status, cluster(0))).contains("tako_cluster_leader 0\n");
    assertThat(MetricsText.of(status, ClusterStatus.getDefaultInstance()))
        .contains("# TYPE tako_cluster_leader gauge\n")
        .doesNotContain("\ntako_cluster_leader");
  }

  @Test
  void shouldDeclareEachFamilyOnceBeforeItsSamples() {
    Set<String> declared = new HashSet<>();
    String family = "";
    for (String line : text().lines().toList()) {
      if (line.startsWith("# TYPE ")) {
        family = line.split(" ", -1)[2];
        assertThat(declared.add(family)).as(family).isTrue();
      } else if (!line.startsWith("# HELP ")) {
        Matcher sample = SAMPLE.matcher(line);
        assertThat(sample.matches()).as(line).isTrue();
        assertThat(sample.group(1)).startsWith(family);
      }
    }
    assertThat(declared).hasSizeGreaterThan(30);
  }

  @Test
  void shouldSayWhatTheStatusSays() {
    assertThat(text())
        .contains("tako_info{version=\"1\\\"\\\\\\n2\",epoch=\"0\"} 1\n")
        .contains("tako_uptime_seconds 1.5\n")
        .contains("tako_operations_total{operation=\"list\",outcome=\"refused\"} 1\n")
        .contains("tako_operations_total{operation=\"list\",outcome=\"ok\"} 3\n")
        .contains("tako_operation_latency_seconds_bucket{operation=\"list\",le=\"5.12E-7\"} 2\n")
        .contains("tako_operation_latency_seconds_bucket{operation=\"list\",le=\"4.096E-6\"} 2\n")
        .contains("tako_operation_latency_seconds_bucket{operation=\"list\",le=\"8.192E-6\"} 4\n")
        .contains("tako_operation_latency_seconds_bucket{operation=\"list\",le=\"+Inf\"} 4\n")
        .contains("tako_operation_latency_seconds_sum{operation=\"list\"} 0.002\n")
        .contains("tako_extent_bytes{state=\"granted\"} 9\n")
        .contains("tako_transport_bytes_total{transport=\"tcp\"} 77\n")
        .contains("tako_connections{transport=\"tcp\"} 1\n")
        .contains("tako_refusals_total{status=\"not_found\"} 1\n")
        .contains("tako_cluster_servers{state=\"up\",well=\"true\"} 2\n")
        .contains("tako_cluster_servers{state=\"up\",well=\"false\"} 1\n")
        .contains("tako_cluster_slabs{state=\"short\"} 4\n")
        .contains("tako_wrong_copies_total 6\n");
  }
}
