package io.takofs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinTest {
  private static final int FLOOR_NS = Spin.FLOOR_NS;

  private final Spin spin = new Spin();

  private int next(boolean found) {
    int nanos = spin.begin();
    spin.end(nanos, found);
    return nanos;
  }

  @Test
  void shouldHalveWhenNothingComesDownToTheFloor() {
    assertThat(next(false)).isEqualTo(Spin.CEILING_NS);
    assertThat(next(false)).isEqualTo(Spin.CEILING_NS / 2);
    for (int i = 0; i < 10; i++) {
      assertThat(next(false)).isGreaterThanOrEqualTo(FLOOR_NS);
    }
    assertThat(next(false)).isEqualTo(FLOOR_NS);
  }

  @Test
  void shouldDoubleWhenItIsWorthItUpToTheCeiling() {
    for (int i = 0; i < 10; i++) {
      next(false);
    }
    assertThat(next(true)).isEqualTo(FLOOR_NS);
    assertThat(next(true)).isEqualTo(2 * FLOOR_NS);
    for (int i = 0; i < 10; i++) {
      next(true);
    }
    assertThat(next(true)).isEqualTo(Spin.CEILING_NS);
  }

  @Test
  void shouldTryTheCeilingNowAndThen() {
    int tries = 0;
    for (int i = 0; i < 100; i++) {
      tries += next(false) == Spin.CEILING_NS ? 1 : 0;
    }
    assertThat(tries).isEqualTo(1 + 3); // the first and every 33rd
  }
}
