package io.takofs.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.OperationStatus;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Status;
import org.junit.jupiter.api.Test;

class OperationTimesTest {
  @Test
  void shouldCountCallsByKindOutcomeAndTime() {
    OperationTimes times = new OperationTimes();
    times.record(OperationCase.MKDIRS, Status.OK, 3000);
    times.record(OperationCase.MKDIRS, Status.NOT_FOUND, 5000);
    times.record(OperationCase.LIST, Status.OK, 7);
    assertThat(times.snapshot())
        .extracting(OperationStatus::getOperation)
        .containsExactly("mkdirs", "list");
    OperationStatus mkdirs = times.snapshot().get(0);
    assertThat(mkdirs.getCalls()).isEqualTo(2);
    assertThat(mkdirs.getRefused()).isEqualTo(1);
    assertThat(mkdirs.getTotalNs()).isEqualTo(8000);
    assertThat(mkdirs.getLatencies(LatencyBuckets.of(3000))).isEqualTo(1);
    assertThat(mkdirs.getLatenciesCount()).isEqualTo(LatencyBuckets.of(5000) + 1);
    assertThat(times.counters())
        .containsEntry("calls", 3L)
        .containsEntry("calls.mkdirs", 2L)
        .containsEntry("refused.not_found", 1L)
        .hasSize(4);
  }
}
