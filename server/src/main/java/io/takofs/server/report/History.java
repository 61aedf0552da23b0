package io.takofs.server.report;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import io.takofs.proto.OperationStatus;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.TransportStatus;
import io.takofs.server.metrics.LatencyBuckets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The last hour of a server: what changed between each two statuses that were added. It is kept in
 * memory, 8 bytes a number, and begins anew with the process.
 *
 * <p>Thread rule: one thread.
 */
public final class History {
  /** Time between two samples. */
  public static final Duration PERIOD = Duration.ofSeconds(10);

  /** An hour. */
  static final int SAMPLES = 360;

  /** Kinds of calls that {@link #json} names. */
  static final int KINDS = 4;

  /** A sample that is so late, in periods, comes after a gap. */
  private static final int LATE = 3;

  private static final double NS = 1e9;
  private static final double THOUSANDTHS = 1e3;

  private final Ring times = new Ring();
  private final Ring calls = new Ring();
  private final Ring written = new Ring();
  private final Ring sent = new Ring();
  private final Ring median = new Ring();
  private final Ring slow = new Ring();
  private final Ring used = new Ring();
  private final Ring free = new Ring();
  private final List<Ring> rings =
      new ArrayList<>(List.of(times, calls, written, sent, median, slow, used, free));
  private final Map<String, Ring> kinds = new TreeMap<>();
  private ServerStatus before;
  private long beforeNs;
  private int count; // samples that were ever added

  /** The samples that are kept; one that was not measured is not a number. */
  private static final class Ring {
    private final double[] values = new double[SAMPLES];

    private Ring() {
      Arrays.fill(values, Double.NaN);
    }
  }

  /**
   * Adds a sample.
   *
   * @param timeMs of day
   * @param ns of a monotonic clock
   * @param now the status, or null when the server did not tell it
   */
  public void add(long timeMs, long ns, ServerStatus now) {
    int at = count++ % SAMPLES;
    rings.forEach(ring -> ring.values[at] = Double.NaN);
    times.values[at] = Math.round(timeMs / THOUSANDTHS);
    if (now == null) {
      before = null;
      return;
    }
    used.values[at] = now.getUsage().getUsed();
    free.values[at] = now.getUsage().getFree();
    if (before != null && ns - beforeNs < LATE * PERIOD.toNanos()) {
      addRates(at, now, Math.max(1, ns - beforeNs) / NS);
    }
    before = now;
    beforeNs = ns;
  }

  private void addRates(int at, ServerStatus now, double seconds) {
    written.values[at] = (now.getCommittedBytes() - before.getCommittedBytes()) / seconds;
    sent.values[at] = (sent(now) - sent(before)) / seconds;
    Map<String, OperationStatus> earlier = new HashMap<>();
    before.getOperationsList().forEach(each -> earlier.put(each.getOperation(), each));
    Long[] latencies = new Long[LatencyBuckets.COUNT];
    Arrays.fill(latencies, 0L);
    long all = 0;
    for (OperationStatus each : now.getOperationsList()) {
      OperationStatus old =
          earlier.getOrDefault(each.getOperation(), OperationStatus.getDefaultInstance());
      long more = each.getCalls() - old.getCalls();
      all += more;
      kind(each.getOperation()).values[at] = more / seconds;
      for (int bucket = 0; bucket < each.getLatenciesCount(); bucket++) {
        long seen = bucket < old.getLatenciesCount() ? old.getLatencies(bucket) : 0;
        latencies[bucket] += each.getLatencies(bucket) - seen;
      }
    }
    calls.values[at] = all / seconds;
    if (all > 0) {
      median.values[at] = LatencyBuckets.quantileNs(Arrays.asList(latencies), 0.5);
      slow.values[at] = LatencyBuckets.quantileNs(Arrays.asList(latencies), 0.99);
    }
  }

  private Ring kind(String operation) {
    return kinds.computeIfAbsent(
        operation,
        any -> {
          Ring ring = new Ring();
          rings.add(ring);
          return ring;
        });
  }

  private static long sent(ServerStatus status) {
    long bytes = 0;
    for (TransportStatus each : status.getTransportsList()) {
      bytes += each.getCountersOrDefault("bytes", 0);
    }
    return bytes;
  }

  /**
   * All samples, oldest first, one array for each line of a chart; null for what is not known.
   *
   * <pre>{"period_s": 10, "time_s": [...],
   *  "calls_per_s": {"total": [...], "get_file": [...], ...},
   *  "bytes_per_s": {"written": [...], "sent": [...]},
   *  "latency_ns": {"median": [...], "p99": [...]},
   *  "space_bytes": {"used": [...], "free": [...]}}</pre>
   */
  public String json() {
    JsonObject all = new JsonObject();
    all.addProperty("period_s", PERIOD.toSeconds());
    all.add("time_s", whole(times));
    JsonObject perKind = new JsonObject();
    perKind.add("total", values(calls, THOUSANDTHS));
    for (String kind : mostFrequent()) {
      perKind.add(kind, values(kinds.get(kind), THOUSANDTHS));
    }
    all.add("calls_per_s", perKind);
    all.add("bytes_per_s", pair("written", written, "sent", sent));
    all.add("latency_ns", pair("median", median, "p99", slow));
    all.add("space_bytes", pair("used", used, "free", free));
    return all.toString();
  }

  private List<String> mostFrequent() {
    Map<String, Double> sums = new HashMap<>();
    kinds.forEach((name, ring) -> sums.put(name, sum(ring)));
    return kinds.keySet().stream()
        .filter(name -> sums.get(name) > 0)
        .sorted(Comparator.comparing(sums::get).reversed()) // equal ones by name: it is stable
        .limit(KINDS)
        .toList();
  }

  private static double sum(Ring ring) {
    return Arrays.stream(ring.values).filter(Double::isFinite).sum();
  }

  private JsonObject pair(String first, Ring one, String second, Ring other) {
    JsonObject both = new JsonObject();
    both.add(first, whole(one));
    both.add(second, whole(other));
    return both;
  }

  private JsonArray whole(Ring ring) {
    return values(ring, 1);
  }

  /**
   * @param parts of a whole number that are kept
   */
  private JsonArray values(Ring ring, double parts) {
    JsonArray values = new JsonArray();
    for (int i = Math.max(0, count - SAMPLES); i < count; i++) {
      double value = ring.values[i % SAMPLES];
      if (Double.isNaN(value)) {
        values.add(JsonNull.INSTANCE);
      } else if (parts == 1) {
        values.add(Math.round(value));
      } else {
        values.add(Math.round(value * parts) / parts);
      }
    }
    return values;
  }
}
