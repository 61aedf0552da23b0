package io.takofs.server.report;

import io.takofs.proto.CheckpointStatus;
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
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A status in Prometheus's text format, version 0.0.4.
 *
 * <p>Thread rule: one thread each.
 */
public final class MetricsText {
  /** The Content-Type of the format. */
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final double NS = 1e9;
  private static final double MS = 1e3;

  /** Up to here a double is every whole number. */
  private static final double EXACT = 1L << 53;

  private final StringBuilder out = new StringBuilder(1 << 15);

  private MetricsText() {}

  /** All metrics of a server, and of the cluster when it leads one. */
  public static String of(ServerStatus status, ClusterStatus cluster) {
    MetricsText text = new MetricsText();
    text.server(status);
    text.operations(status.getOperationsList());
    text.transports(status.getTransportsList());
    text.space(status);
    text.log(status);
    text.clients(status);
    text.leader(cluster);
    if (cluster.hasRepair() && cluster.getLeader() == cluster.getServer()) {
      text.cluster(cluster);
    }
    text.process();
    text.events(status.getCountersMap());
    return text.out.toString();
  }

  private void server(ServerStatus status) {
    gauge("tako_info", "Version and incarnation of the server; always 1.");
    sample(
        "tako_info",
        labels("version", status.getVersion(), "epoch", Long.toString(status.getEpoch())),
        1);
    single("tako_uptime_seconds", "Time since the server started.", status.getUptimeMs() / MS);
  }

  private void operations(List<OperationStatus> operations) {
    counter("tako_operations_total", "Calls by kind and outcome.");
    for (OperationStatus each : operations) {
      long refused = each.getRefused();
      String name = each.getOperation();
      sample("tako_operations_total", labels("operation", name, "outcome", "refused"), refused);
      sample(
          "tako_operations_total",
          labels("operation", name, "outcome", "ok"),
          each.getCalls() - refused);
    }
    String latency = "tako_operation_latency_seconds";
    family(
        latency,
        "histogram",
        "Time from a call's arrival at the server until it was executed, waiting included.");
    for (OperationStatus each : operations) {
      histogram(latency, each);
    }
  }

  /** A bucket each doubling: what is kept is finer than a time series need be. */
  private void histogram(String name, OperationStatus operation) {
    String label = labels("operation", operation.getOperation());
    long below = 0;
    for (int bucket = 0; bucket < LatencyBuckets.COUNT - 1; bucket++) {
      below += bucket < operation.getLatenciesCount() ? operation.getLatencies(bucket) : 0;
      long end = LatencyBuckets.endNs(bucket);
      if (Long.bitCount(end) == 1) {
        sample(name + "_bucket", label + ",le=\"" + number(end / NS) + "\"", below);
      }
    }
    sample(name + "_bucket", label + ",le=\"+Inf\"", operation.getCalls());
    sample(name + "_sum", label, operation.getTotalNs() / NS);
    sample(name + "_count", label, operation.getCalls());
  }

  private void transports(List<TransportStatus> transports) {
    String bytes = "tako_transport_bytes_total";
    counter(
        bytes,
        "Bytes the server sent over a transport. Its processor never sees the bytes that clients"
            + " move one-sided, over shared memory above all.");
    for (TransportStatus each : transports) {
      sample(
          bytes, labels("transport", each.getTransport()), each.getCountersOrDefault("bytes", 0));
    }
    String events = "tako_transport_events";
    family(events, "untyped", "What else a transport counts, by name.");
    for (TransportStatus each : transports) {
      new TreeMap<>(each.getCountersMap())
          .forEach(
              (name, value) ->
                  sample(events, labels("transport", each.getTransport(), "counter", name), value));
    }
  }

  private void space(ServerStatus status) {
    single("tako_pool_capacity_bytes", "Bytes of the data zone.", status.getUsage().getCapacity());
    single("tako_pool_used_bytes", "Bytes of it that are not free.", status.getUsage().getUsed());
    single("tako_pool_free_bytes", "Bytes of it that are free.", status.getUsage().getFree());
    gauge("tako_extent_bytes", "Bytes of the data zone by the state of their extents.");
    for (ExtentStatus each : status.getExtentsList()) {
      sample("tako_extent_bytes", labels("state", each.getState()), each.getBytes());
    }
    gauge("tako_extents", "Extents by state; free space is not divided into extents.");
    for (ExtentStatus each : status.getExtentsList()) {
      if (!each.getState().equals("free")) {
        sample("tako_extents", labels("state", each.getState()), each.getExtents());
      }
    }
    single("tako_files", "Files, those being deleted included.", status.getFiles());
    single("tako_directories", "Directories, likewise.", status.getDirectories());
    single("tako_leases", "Files open for writing.", status.getOpenFiles());
    single("tako_metadata_pages_used", "Pages in use.", status.getMetadataPagesUsed());
    single("tako_metadata_pages", "Pages of the page zone.", status.getMetadataPagesTotal());
    total("tako_committed_bytes_total", "Bytes added to files.", status.getCommittedBytes());
  }

  private void log(ServerStatus status) {
    total("tako_log_index", "Index of the last log entry.", status.getLogLastIndex());
    single("tako_log_segments", "Segments with entries.", status.getLogSegments());
    single("tako_log_segments_free", "Segments without.", status.getLogSegmentsFree());
    CheckpointStatus checkpoint = status.getCheckpoint();
    total("tako_checkpoints_total", "Checkpoints made.", checkpoint.getMade());
    single("tako_checkpoint_index", "Entry the last one has.", status.getCheckpointIndex());
    single("tako_checkpoint_running", "1 while one is made.", checkpoint.getRunning() ? 1L : 0L);
    single(
        "tako_checkpoint_last_duration_seconds",
        "How long the last one took, calls in between included.",
        checkpoint.getLastMs() / MS);
    single(
        "tako_checkpoint_age_seconds",
        "Time since the last one, or since the start.",
        checkpoint.getAgeMs() / MS);
  }

  private void clients(ServerStatus status) {
    single("tako_safe_mode", "1 while all changes are stopped.", status.getSafeMode() ? 1L : 0L);
    single("tako_sessions", "Sessions.", status.getCountersOrDefault("sessions", 0));
    gauge("tako_connections", "Connections that carry calls, by transport.");
    Map<String, Long> byTransport = new TreeMap<>();
    status.getTransportsList().forEach(each -> byTransport.put(each.getTransport(), 0L));
    for (ConnectionStatus each : status.getConnectionsList()) {
      byTransport.merge(each.getTransport(), 1L, Long::sum);
    }
    status.getConnectionsLeftOutMap().forEach((name, n) -> byTransport.merge(name, n, Long::sum));
    byTransport.forEach(
        (name, count) -> sample("tako_connections", labels("transport", name), count));
  }

  /** A server alone has no sample, because 0 would say that nobody leads. */
  private void leader(ClusterStatus cluster) {
    String leader = "tako_cluster_leader";
    gauge(leader, "Number of the server that leads, as far as this one knows; 0 for none.");
    if (cluster.getServersCount() > 1) {
      sample(leader, "", cluster.getLeader());
    }
  }

  /** One server says it, so that sums over servers count nothing twice. */
  private void cluster(ClusterStatus cluster) {
    gauge("tako_cluster_servers", "Servers in the map by state; those without trouble are well.");
    Map<String, Long> servers = new TreeMap<>();
    for (ServerHealth each : cluster.getServersList()) {
      String state = Clusters.state(each.getEntry());
      servers.merge(
          labels("state", state, "well", Boolean.toString(each.getTrouble().isEmpty())),
          1L,
          Long::sum);
    }
    servers.forEach((state, count) -> sample("tako_cluster_servers", state, count));
    gauge("tako_cluster_slabs", "Replicated slabs by state.");
    for (SlabStatus each : cluster.getSlabsList()) {
      sample("tako_cluster_slabs", labels("state", each.getState()), each.getSlabs());
    }
    RepairStatus repair = cluster.getRepair();
    single("tako_repair_slabs_waiting", "Slabs that lack a copy.", repair.getSlabsWaiting());
    single("tako_repair_bytes_left", "Bytes to be copied.", repair.getBytesLeft());
    total("tako_repair_bytes_total", "Bytes that were copied.", repair.getBytesDone());
    single(
        "tako_files_to_move",
        "Files that are to have another number of copies.",
        repair.getFilesToMove());
    total(
        "tako_moved_bytes_total",
        "Bytes of files that got another number of copies, or whose slab was emptied.",
        repair.getBytesMoved());
    total(
        "tako_slabs_emptied_total",
        "Slabs that were emptied because their room was needed.",
        repair.getSlabsEmptied());
    total("tako_scrub_bytes_total", "Bytes that were verified.", repair.getBytesVerified());
    single(
        "tako_files_missing", "Files of which bytes are missing.", cluster.getFiles().getMissing());
    single(
        "tako_files_corrupt", "Files whose only copy is wrong.", cluster.getFiles().getCorrupt());
    total("tako_wrong_copies_total", "Copies that were found wrong.", repair.getWrongCopies());
  }

  private void process() {
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    single("tako_heap_used_bytes", "Java heap in use.", heap.getUsed());
    single("tako_heap_max_bytes", "Java heap at most.", heap.getMax());
    if (ManagementFactory.getOperatingSystemMXBean()
        instanceof com.sun.management.OperatingSystemMXBean system) {
      counter("process_cpu_seconds_total", "Processor time of the server.");
      sample("process_cpu_seconds_total", "", system.getProcessCpuTime() / NS);
    }
  }

  /** Counters without a name of their own above. */
  private void events(Map<String, Long> counters) {
    String refusals = "tako_refusals_total";
    counter(refusals, "Calls refused, by status.");
    String prefix = "refused.";
    new TreeMap<>(counters)
        .forEach(
            (name, value) -> {
              if (name.startsWith(prefix)) {
                sample(refusals, labels("status", name.substring(prefix.length())), value);
              }
            });
    String events = "tako_events_total";
    counter(events, "What the server did, by name.");
    for (String name :
        List.of(
            "log.applied",
            "log.bytes",
            "request.bytes",
            "sessions.ended",
            "leases.expired",
            "extents.freed",
            "reclaims")) {
      sample(events, labels("event", name), counters.getOrDefault(name, 0L));
    }
  }

  // ---- the format
  // --------------------------------------------------------------------------------

  private void counter(String name, String help) {
    family(name, "counter", help);
  }

  private void gauge(String name, String help) {
    family(name, "gauge", help);
  }

  private void single(String name, String help, long value) {
    gauge(name, help);
    sample(name, "", value);
  }

  private void single(String name, String help, double value) {
    gauge(name, help);
    sample(name, "", value);
  }

  private void total(String name, String help, long value) {
    counter(name, help);
    sample(name, "", value);
  }

  private void family(String name, String type, String help) {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private void sample(String name, String labels, long value) {
    sample(name, labels, Long.toString(value));
  }

  private void sample(String name, String labels, double value) {
    sample(name, labels, number(value));
  }

  private void sample(String name, String labels, String value) {
    out.append(name);
    if (!labels.isEmpty()) {
      out.append('{').append(labels).append('}');
    }
    out.append(' ').append(value).append('\n');
  }

  private static String labels(String... namesAndValues) {
    StringBuilder labels = new StringBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      labels
          .append(i == 0 ? "" : ",")
          .append(namesAndValues[i])
          .append("=\"")
          .append(escape(namesAndValues[i + 1]))
          .append('"');
    }
    return labels.toString();
  }

  private static String escape(String value) {
    return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < EXACT
        ? Long.toString((long) value)
        : Double.toString(value);
  }
}
