package io.takofs.cli;

import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.OperationStatus;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.TransportStatus;
import io.takofs.server.metrics.LatencyBuckets;
import io.takofs.server.report.Connections;
import io.takofs.server.report.Counts;
import io.takofs.server.report.Sizes;
import io.takofs.server.report.Spans;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The differences between two statuses of a server, as lines. */
final class TopView {
  private static final int CLIENTS = 10;
  private static final double MS = 1e3;
  private static final String OPERATION = "%-20s %10s %9s %9s %9s %9s%n";
  private static final String CLIENT = "%-32s %-12s %-6s %10s%n";

  private final ServerStatus before;
  private final ServerStatus now;
  private final double seconds;
  private final StringBuilder out = new StringBuilder();

  private TopView(ServerStatus before, ServerStatus now) {
    this.before = before;
    this.now = now;
    this.seconds = Math.max(1, now.getUptimeMs() - before.getUptimeMs()) / MS;
  }

  /**
   * The lines. A server that started in between is shown since its start.
   *
   * @param cluster a line about it; empty for none
   */
  static String text(URI server, ServerStatus before, ServerStatus now, String cluster) {
    boolean same = before.getEpoch() == now.getEpoch();
    TopView view = new TopView(same ? before : ServerStatus.getDefaultInstance(), now);
    view.head(server, cluster);
    view.operations();
    view.clients();
    return view.out.toString();
  }

  private void head(URI server, String cluster) {
    line(
        "tako top   %s, up %s, %s",
        server,
        Spans.clock(Duration.ofMillis(now.getUptimeMs())),
        String.format(Locale.ROOT, "last %.1f s", seconds));
    if (!cluster.isEmpty()) {
      line("cluster    %s", cluster);
    }
    line(
        "files      %d, %d open for writing; %s",
        now.getFiles(),
        now.getOpenFiles(),
        Counts.text(now.getDirectories(), "directory", "directories"));
    line(
        "data       %s used of %s; metadata %d of %d pages",
        Sizes.human(now.getUsage().getUsed()),
        Sizes.human(now.getUsage().getCapacity()),
        now.getMetadataPagesUsed(),
        now.getMetadataPagesTotal());
    StringBuilder bytes = new StringBuilder();
    Map<String, Long> sentBefore =
        before.getTransportsList().stream()
            .collect(Collectors.toMap(TransportStatus::getTransport, TopView::sent));
    for (TransportStatus each : now.getTransportsList()) {
      long sent = sent(each) - sentBefore.getOrDefault(each.getTransport(), 0L);
      bytes.append(", ").append(size(sent)).append("/s sent by ").append(each.getTransport());
    }
    line(
        "bytes      %s/s written to files%s",
        size(now.getCommittedBytes() - before.getCommittedBytes()), bytes);
    line(
        "log        entry %d, %s; checkpoint %s%s",
        now.getLogLastIndex(),
        Counts.text(now.getLogSegments(), "segment", "segments"),
        Counts.checkpointAge(now),
        now.getCheckpoint().getRunning() ? ", one is being made" : "");
    line("");
  }

  private void operations() {
    row(OPERATION, "OPERATION", "PER S", "MEDIAN", "99 %", "99.9 %", "REFUSED");
    Map<String, OperationStatus> earlier =
        before.getOperationsList().stream()
            .collect(Collectors.toMap(OperationStatus::getOperation, each -> each));
    long calls = 0;
    for (OperationStatus each : now.getOperationsList()) {
      OperationStatus old =
          earlier.getOrDefault(each.getOperation(), OperationStatus.getDefaultInstance());
      long count = each.getCalls() - old.getCalls();
      calls += count;
      if (count > 0) {
        List<Long> latencies = minus(each.getLatenciesList(), old.getLatenciesList());
        row(
            OPERATION,
            each.getOperation(),
            rate(count),
            quantile(latencies, 0.5),
            quantile(latencies, 0.99),
            quantile(latencies, 0.999),
            each.getRefused() - old.getRefused());
      }
    }
    row(OPERATION, "all", rate(calls), "", "", "", "");
    line("");
  }

  private void clients() {
    Map<String, Long> earlier =
        before.getConnectionsList().stream()
            .collect(Collectors.toMap(TopView::key, ConnectionStatus::getCalls, Long::sum));
    List<ConnectionStatus> busiest = new ArrayList<>(now.getConnectionsList());
    Comparator<ConnectionStatus> byCalls =
        Comparator.comparingLong(each -> each.getCalls() - earlier.getOrDefault(key(each), 0L));
    busiest.sort(byCalls.reversed());
    row(CLIENT, "CLIENT", "USER", "BY", "PER S");
    for (ConnectionStatus each : busiest.subList(0, Math.min(CLIENTS, busiest.size()))) {
      row(
          CLIENT,
          each.getClientName(),
          each.getUser(),
          each.getTransport(),
          rate(each.getCalls() - earlier.getOrDefault(key(each), 0L)));
    }
    if (Connections.count(now) > CLIENTS) {
      line("and %d more", Connections.count(now) - CLIENTS);
    }
  }

  private static String key(ConnectionStatus connection) {
    return connection.getClientName() + ' ' + connection.getRemote();
  }

  private static long sent(TransportStatus transport) {
    return transport.getCountersOrDefault("bytes", 0);
  }

  private static List<Long> minus(List<Long> counts, List<Long> old) {
    List<Long> difference = new ArrayList<>(counts.size());
    for (int i = 0; i < counts.size(); i++) {
      difference.add(counts.get(i) - (i < old.size() ? old.get(i) : 0));
    }
    return difference;
  }

  private static String quantile(List<Long> latencies, double quantile) {
    return Spans.human(LatencyBuckets.quantileNs(latencies, quantile));
  }

  private String rate(long count) {
    return String.format(Locale.ROOT, "%.0f", count / seconds);
  }

  private String size(long bytes) {
    return Sizes.human(Math.round(bytes / seconds));
  }

  private void line(String format, Object... values) {
    row(format + "%n", values);
  }

  private void row(String format, Object... values) {
    out.append(String.format(Locale.ROOT, format, values));
  }
}
