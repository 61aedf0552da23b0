package io.takofs.server.metrics;

import io.takofs.proto.OperationStatus;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The number, results and latencies of calls of each kind. Recording one is a few additions,
 * without garbage.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class OperationTimes {
  private final Map<OperationCase, Operation> operations = new EnumMap<>(OperationCase.class);
  private final Map<Status, long[]> refusals = new EnumMap<>(Status.class);

  /** A kind of call. */
  private static final class Operation {
    private final String name;
    private final long[] latencies = new long[LatencyBuckets.COUNT];
    private long calls;
    private long refused;
    private long totalNs;

    private Operation(OperationCase kind) {
      name = kind.name().toLowerCase(Locale.ROOT);
    }

    private OperationStatus status() {
      OperationStatus.Builder status =
          OperationStatus.newBuilder()
              .setOperation(name)
              .setCalls(calls)
              .setRefused(refused)
              .setTotalNs(totalNs);
      int last = latencies.length - 1;
      while (last >= 0 && latencies[last] == 0) {
        last--;
      }
      for (int bucket = 0; bucket <= last; bucket++) {
        status.addLatencies(latencies[bucket]);
      }
      return status.build();
    }
  }

  /** Nothing was called yet. */
  public OperationTimes() {
    for (OperationCase kind : OperationCase.values()) {
      operations.put(kind, new Operation(kind));
    }
    for (Status status : Status.values()) {
      refusals.put(status, new long[1]);
    }
  }

  /** A call was answered {@code ns} after it came. */
  public void record(OperationCase kind, Status status, long ns) {
    Operation operation = operations.get(kind);
    operation.calls++;
    operation.totalNs += ns;
    operation.latencies[LatencyBuckets.of(ns)]++;
    if (status != Status.OK) {
      operation.refused++;
      refusals.get(status)[0]++;
    }
  }

  /** Those kinds that were called. */
  public List<OperationStatus> snapshot() {
    List<OperationStatus> called = new ArrayList<>();
    for (Operation operation : operations.values()) {
      if (operation.calls > 0) {
        called.add(operation.status());
      }
    }
    return called;
  }

  /** {@code calls}, {@code calls.} and a kind, {@code refused.} and a status. */
  public Map<String, Long> counters() {
    Map<String, Long> counters = new TreeMap<>();
    long all = 0;
    for (Operation operation : operations.values()) {
      all += operation.calls;
      if (operation.calls > 0) {
        counters.put("calls." + operation.name, operation.calls);
      }
    }
    counters.put("calls", all);
    refusals.forEach(
        (status, count) -> {
          if (count[0] > 0) {
            counters.put("refused." + status.name().toLowerCase(Locale.ROOT), count[0]);
          }
        });
    return counters;
  }
}
