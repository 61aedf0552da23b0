package io.takofs.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class LatencyBucketsTest {
  @Test
  void shouldPutEachTimeBetweenTheEndsOfItsBucket() {
    for (long ns = 1; ns < 1L << 40; ns += 1 + ns / 7) {
      int bucket = LatencyBuckets.of(ns);
      assertThat(bucket).isBetween(0, LatencyBuckets.COUNT - 1);
      if (bucket < LatencyBuckets.COUNT - 1) {
        assertThat(ns).isLessThan(LatencyBuckets.endNs(bucket));
      }
      if (bucket > 0) {
        assertThat(ns).isGreaterThanOrEqualTo(LatencyBuckets.endNs(bucket - 1));
      }
    }
    assertThat(LatencyBuckets.of(0)).isZero();
    assertThat(LatencyBuckets.of(-5)).isZero();
    assertThat(LatencyBuckets.of(Long.MAX_VALUE)).isEqualTo(LatencyBuckets.COUNT - 1);
  }

  @Test
  void shouldFindQuantilesWithinAQuarter() {
    List<Long> counts = new ArrayList<>(Collections.nCopies(LatencyBuckets.COUNT, 0L));
    for (long ns = 1000; ns <= 100_000; ns += 1000) {
      counts.set(LatencyBuckets.of(ns), counts.get(LatencyBuckets.of(ns)) + 1);
    }
    for (int percent : new int[] {10, 50, 90, 99}) {
      assertThat((double) LatencyBuckets.quantileNs(counts, percent / 100.0))
          .isBetween(percent * 800.0, percent * 1250.0);
    }
    assertThat(LatencyBuckets.quantileNs(List.of(), 0.5)).isZero();
  }
}
