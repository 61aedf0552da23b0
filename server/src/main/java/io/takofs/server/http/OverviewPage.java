package io.takofs.server.http;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ExtentStatus;
import io.takofs.proto.OperationStatus;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.TransportStatus;
import io.takofs.server.metrics.LatencyBuckets;
import io.takofs.server.report.Connections;
import io.takofs.server.report.Counts;
import io.takofs.server.report.Sizes;
import io.takofs.server.report.Spans;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The server at a glance. */
final class OverviewPage implements HtmlPage {
  private final StatusSource status;
  private final ClusterPage.ClusterSource cluster;
  private final URI uri;

  OverviewPage(StatusSource status, ClusterPage.ClusterSource cluster, URI uri) {
    this.status = status;
    this.cluster = cluster;
    this.uri = uri;
  }

  @Override
  public String title() {
    return "Overview";
  }

  @Override
  public boolean hasCharts() {
    return true;
  }

  @Override
  public int write(Html html, Map<String, List<String>> parameters) throws TakoException {
    ServerStatus now = status.get();
    ClusterStatus all = cluster.get();
    all.getWarningsList().forEach(html::warning);
    html.heading("Server").table("", "");
    html.row("Clients use", uri);
    html.row("Version", now.getVersion() + ", epoch " + now.getEpoch());
    html.row("Up", Spans.clock(Duration.ofMillis(now.getUptimeMs())));
    Optional<Html.Link> elsewhere = NamespaceLink.elsewhere(all, "/");
    if (elsewhere.isPresent()) {
      html.row("Namespace", elsewhere.get());
      html.endTable();
      html.charts();
      space(html, now.getUsage());
      return 200;
    }
    namespace(html, now);
    html.charts();
    space(html, now.getUsage());
    html.bar(
        now.getMetadataPagesUsed() + " of " + now.getMetadataPagesTotal() + " metadata pages used",
        share(now.getMetadataPagesUsed(), now.getMetadataPagesTotal()));
    html.table("Extents", "Number", "Size");
    for (ExtentStatus each : now.getExtentsList()) {
      boolean free = each.getState().equals("free");
      html.row(each.getState(), free ? "" : each.getExtents(), Sizes.human(each.getBytes()));
    }
    html.endTable();
    operations(html, now.getOperationsList());
    transports(html, now.getTransportsList());
    return 200;
  }

  private static void space(Html html, SpaceUsage usage) {
    html.heading("Space");
    html.bar(
        Sizes.human(usage.getUsed()) + " of " + Sizes.human(usage.getCapacity()) + " of data used",
        share(usage.getUsed(), usage.getCapacity()));
  }

  private static void namespace(Html html, ServerStatus now) {
    html.row("Changes", now.getSafeMode() ? "stopped: it is in safe mode" : "possible");
    html.row("Files", now.getFiles() + " (" + now.getOpenFiles() + " open for writing)");
    html.row("Directories", now.getDirectories());
    html.row(
        "Clients",
        now.getCountersOrDefault("sessions", 0)
            + " sessions, "
            + Connections.count(now)
            + " connections");
    html.row(
        "Log",
        "entry "
            + now.getLogLastIndex()
            + "; "
            + now.getLogSegments()
            + " segments in use, "
            + now.getLogSegmentsFree()
            + " free");
    html.row(
        "Checkpoint",
        "of entry "
            + now.getCheckpointIndex()
            + ", "
            + Counts.checkpointAge(now)
            + (now.getCheckpoint().getRunning() ? "; one is being made" : ""));
    html.row("Written to files", Sizes.human(now.getCommittedBytes()));
    html.endTable();
  }

  private static void operations(Html html, List<OperationStatus> operations) {
    html.heading("Operations since the start")
        .table("Operation", "Calls", "Refused", "Median", "99 %", "99.9 %");
    for (OperationStatus each : operations) {
      html.row(
          each.getOperation(),
          each.getCalls(),
          each.getRefused(),
          quantile(each, 0.5),
          quantile(each, 0.99),
          quantile(each, 0.999));
    }
    html.endTable();
    html.paragraph("Times are the server's: from arrival until executed.");
  }

  private static String quantile(OperationStatus operation, double quantile) {
    return Spans.human(LatencyBuckets.quantileNs(operation.getLatenciesList(), quantile));
  }

  private static void transports(Html html, List<TransportStatus> transports) {
    html.heading("Transports")
        .table("Transport", "Queue pairs", "Connects", "Sends", "Bytes sent", "Failed");
    for (TransportStatus each : transports) {
      Map<String, Long> counters = new TreeMap<>(each.getCountersMap());
      long failed = 0;
      for (Map.Entry<String, Long> counter : counters.entrySet()) {
        boolean failure =
            counter.getKey().startsWith("completions.")
                && !counter.getKey().equals("completions.success")
                && !counter
                    .getKey()
                    .equals("completions.flushed"); // those of connections that ended
        failed += failure ? counter.getValue() : 0;
      }
      html.row(
          each.getTransport(),
          counters.getOrDefault("queue_pairs", 0L),
          counters.getOrDefault("connects", 0L),
          counters.getOrDefault("sends", 0L),
          Sizes.human(counters.getOrDefault("bytes", 0L)),
          failed);
    }
    html.endTable();
    html.paragraph(
        "Counted is what the server does. Bytes that clients read and write one-sided pass it by.");
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }
}
