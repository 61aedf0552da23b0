package io.takofs.system;

import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerHealth;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What the handlers of a cluster's servers have been called for by clients over verbs, as the
 * servers' metrics say: at the leader calls by operation, elsewhere messages received.
 */
final class HandledCalls {
  private static final String UPTIME = "tako_uptime_seconds ";
  private static final String OPERATIONS = "tako_operations_total{";
  private static final String RECEIVES =
      "tako_transport_events{transport=\"verbs\",counter=\"receives\"} ";

  private final URI leader;
  private final List<URI> others;

  private HandledCalls(URI leader, List<URI> others) {
    this.leader = leader;
    this.others = others;
  }

  /** Those of the cluster of {@code client}. */
  static HandledCalls of(TakoClient client) throws IOException {
    ClusterStatus cluster = client.administration().clusterStatus();
    URI leader = null;
    List<URI> others = new ArrayList<>();
    for (ServerHealth server : cluster.getServersList()) {
      URI pages = URI.create(server.getEntry().getHttp());
      if (server.getEntry().getId() == cluster.getLeader()) {
        leader = pages;
      } else {
        others.add(pages);
      }
    }
    return new HandledCalls(leader, others);
  }

  /** The samples by now; equal ones if nothing was handled but what comes by time. */
  List<String> now() throws Exception {
    List<String> handled = new ArrayList<>();
    for (String sample : metrics(leader)) {
      if (sample.startsWith(OPERATIONS)
          && !sample.contains("renew_leases")
          && !sample.contains("_status")) {
        handled.add(sample);
      }
    }
    handled.addAll(atFollowers());
    return handled;
  }

  /** The messages that the servers which do not lead have received by now. */
  List<String> atFollowers() throws Exception {
    List<String> received = new ArrayList<>();
    for (URI pages : others) {
      received.add(
          metrics(pages).stream()
              .filter(sample -> sample.startsWith(RECEIVES))
              .findAny()
              .map(sample -> pages + " " + sample)
              .orElseThrow(() -> new AssertionError(pages + " shows no messages over verbs")));
    }
    return received;
  }

  /** A server shows for a moment what it showed before: this is newer. */
  private static List<String> metrics(URI pages) throws Exception {
    String before = uptime(get(pages));
    List<List<String>> last = new ArrayList<>();
    Poll.until(
        "metrics of " + pages + " that are new",
        Duration.ofMinutes(1),
        () -> {
          last.clear();
          last.add(get(pages));
          return !uptime(last.get(0)).equals(before);
        });
    return last.get(0);
  }

  private static String uptime(List<String> metrics) {
    return metrics.stream().filter(sample -> sample.startsWith(UPTIME)).findAny().orElseThrow();
  }

  private static List<String> get(URI pages) throws IOException {
    try (InputStream in = pages.resolve("/metrics").toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }
}
