package io.takofs.server.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.takofs.proto.OperationStatus;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.TransportStatus;
import io.takofs.server.metrics.LatencyBuckets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class HistoryTest {
  private static final long PERIOD_NS = History.PERIOD.toNanos();

  private final History history = new History();
  private long samples;

  /** A status after so many calls of one kind, each of which took as long. */
  private static ServerStatus status(String kind, long calls, long ns, long bytes) {
    List<Long> latencies = new ArrayList<>(Collections.nCopies(LatencyBuckets.of(ns), 0L));
    latencies.add(calls);
    return ServerStatus.newBuilder()
        .addOperations(
            OperationStatus.newBuilder()
                .setOperation(kind)
                .setCalls(calls)
                .addAllLatencies(latencies))
        .addTransports(TransportStatus.newBuilder().putCounters("bytes", 2 * bytes))
        .setCommittedBytes(bytes)
        .setUsage(SpaceUsage.newBuilder().setUsed(bytes).setFree(1000 - bytes))
        .build();
  }

  private void add(ServerStatus status) {
    history.add(1_700_000_000_000L + 10_000 * samples, PERIOD_NS * samples, status);
    samples++;
  }

  private List<String> line(String chart, String line) {
    JsonArray values = json().getAsJsonObject(chart).getAsJsonArray(line);
    List<String> texts = new ArrayList<>();
    for (JsonElement each : values) {
      texts.add(each.toString());
    }
    return texts;
  }

  private JsonObject json() {
    return JsonParser.parseString(history.json()).getAsJsonObject();
  }

  @Test
  void shouldKeepWhatChangedBetweenTwoSamples() {
    add(status("list", 5, 1000, 100));
    add(status("list", 12, 1000, 150));
    add(status("list", 12, 1000, 150));
    assertThat(json().getAsJsonArray("time_s").toString())
        .isEqualTo("[1700000000,1700000010,1700000020]");
    assertThat(line("calls_per_s", "total")).containsExactly("null", "0.7", "0.0");
    assertThat(line("calls_per_s", "list")).containsExactly("null", "0.7", "0.0");
    assertThat(line("bytes_per_s", "written")).containsExactly("null", "5", "0");
    assertThat(line("bytes_per_s", "sent")).containsExactly("null", "10", "0");
    assertThat(line("space_bytes", "used")).containsExactly("100", "150", "150");
    assertThat(line("space_bytes", "free")).containsExactly("900", "850", "850");
    // Of no call there is no latency.
    assertThat(line("latency_ns", "p99").get(2)).isEqualTo("null");
    assertThat(Long.parseLong(line("latency_ns", "median").get(1))).isBetween(800L, 1200L);
  }

  @Test
  void shouldLeaveAGapWhereTheServerDidNotSayHowItIs() {
    add(status("list", 10, 1000, 0));
    add(null);
    add(status("list", 1000, 1000, 0));
    add(status("list", 1010, 1000, 0));
    samples += 6; // no sample was taken for a minute
    add(status("list", 9000, 1000, 0));
    assertThat(line("calls_per_s", "total")).containsExactly("null", "null", "null", "1.0", "null");
    assertThat(line("space_bytes", "used")).containsExactly("0", "null", "0", "0", "0");
  }

  @Test
  void shouldForgetWhatIsOlderThanAnHour() {
    for (int i = 0; i <= History.SAMPLES + 40; i++) {
      add(status("list", 10L * i, 1000, 0));
    }
    assertThat(json().getAsJsonArray("time_s")).hasSize(History.SAMPLES);
    assertThat(json().getAsJsonArray("time_s").get(0).getAsLong()).isEqualTo(1_700_000_000L + 410);
    assertThat(line("calls_per_s", "list")).hasSize(History.SAMPLES).containsOnly("1.0");
  }

  @Test
  void shouldNameTheKindsOfCallsThatAreMadeMost() {
    add(ServerStatus.getDefaultInstance());
    ServerStatus.Builder now = ServerStatus.newBuilder();
    for (int i = 0; i < 8; i++) {
      now.addOperations(OperationStatus.newBuilder().setOperation("kind" + i).setCalls(i));
    }
    add(now.build());
    assertThat(json().getAsJsonObject("calls_per_s").keySet())
        .containsExactly("total", "kind7", "kind6", "kind5", "kind4");
    assertThat(line("calls_per_s", "total")).containsExactly("null", "2.8");
  }
}
