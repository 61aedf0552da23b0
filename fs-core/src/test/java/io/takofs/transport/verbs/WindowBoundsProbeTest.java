package io.takofs.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.transport.TransportCounters.Counter;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("verbs")
@Timeout(120)
class WindowBoundsProbeTest {
  private VerbsTransport transport;

  @BeforeAll
  static void needDevice() {
    Device.assumePresent();
  }

  @BeforeEach
  void open() throws IOException {
    transport = VerbsTransport.create(Optional.empty());
  }

  @AfterEach
  void close() {
    transport.close();
  }

  /** Every device looks at the bounds of regions. */
  @Test
  void shouldSeeThatWritesBeyondARegionAreRefused() throws Exception {
    try (WindowBoundsProbe probe = new WindowBoundsProbe(transport)) {
      assertThat(probe.refusesBeyond(false)).isTrue();
    }
    assertThat(transport.counters().get(Counter.QUEUE_PAIRS)).isZero();
    assertThat(transport.counters().get(Counter.WINDOWS)).isZero();
    assertThat(transport.counters().get(Counter.REGIONS)).isZero();
  }

  @Test
  void shouldSeeThatSoftRoceIgnoresTheBoundsOfWindows() throws Exception {
    assumeTrue(transport.control().facts().device().startsWith("rxe"), "the device is soft-RoCE");
    assertThat(transport.tryWindowBounds()).isFalse();
    assertThat(transport.looksAtWindowBounds()).isFalse();
    assertThat(transport.counters().get(Counter.CONNECTS)).isZero();
  }
}
