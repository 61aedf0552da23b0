package io.takofs.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HedgedReadsTest {
  private static final int READS = 16_000;

  @Test
  void shouldAskAnotherServerOfOneReadInSixteenAtMostWhenAllAreSlow() {
    HedgedReads hedging = new HedgedReads(1_000_000);
    for (int i = 0; i < READS; i++) {
      if (hedging.begin()) {
        hedging.hedge();
      }
    }
    assertThat(hedging.count()).isBetween(READS / 16L, READS / 16L + 16);
  }

  @Test
  void shouldAskAnotherServerOfEachSlowReadWhileFewAre() {
    HedgedReads hedging = new HedgedReads(1_000_000);
    for (int i = 0; i < READS; i++) {
      assertThat(hedging.begin()).isTrue();
      if (i % 100 == 0) {
        hedging.hedge();
      }
    }
    assertThat(hedging.count()).isEqualTo(READS / 100);
  }

  @Test
  void shouldNeverAskAnotherServerWithoutAThreshold() {
    HedgedReads hedging = new HedgedReads(0);
    assertThat(hedging.begin()).isFalse();
  }
}
