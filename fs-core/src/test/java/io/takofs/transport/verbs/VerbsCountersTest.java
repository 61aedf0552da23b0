package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.transport.CompletionStatus;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the counters of verbs alone; the transports' common suite has the others. */
@Tag("verbs")
@Timeout(120)
class VerbsCountersTest {
  private ConnectedPair world;

  @BeforeAll
  static void needDevice() {
    Device.assumePresent();
  }

  @BeforeEach
  void open() throws IOException {
    world = new ConnectedPair(64);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void shouldShowWhatTheDeviceCountsOfReceiversThatWereNotReady() throws Exception {
    assumeTrue(
        world.client.transport.control().facts().device().startsWith("rxe"),
        "each driver has names of its own");
    TransportCounters counters = world.client.transport.counters();
    long before = counters.snapshot().get("device.rcvd_rnr_err");
    VerbsQueuePair sender = world.connect().client();
    sender.writeWithImmediate(1, new ScatterGather(), 0, 0, 0, QueuePair.SIGNALED);
    sender.ring();
    assertThat(world.client.next().status()).isEqualTo(CompletionStatus.RECEIVER_NOT_READY);
    assertThat(counters.completions(CompletionStatus.RECEIVER_NOT_READY)).isEqualTo(1);
    assertThat(counters.snapshot().get("device.rcvd_rnr_err")).isGreaterThan(before);
  }
}
