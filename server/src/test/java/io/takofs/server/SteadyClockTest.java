package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
  private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);

  private final ManualClock machine = new ManualClock();
  private final SteadyClock clock = new SteadyClock(machine);

  @Test
  void shouldSayWhatTheMachinesClockSays() {
    long begin = clock.currentTimeMillis();
    machine.advanceMillis(7);
    assertThat(clock.currentTimeMillis()).isEqualTo(begin + 7);
    machine.setWall(DAY_MS);
    assertThat(clock.currentTimeMillis()).isEqualTo(begin + 7 + DAY_MS);
  }

  @Test
  void shouldGoOnWhenTheMachinesClockIsSetBackUntilThatHasCaughtUp() {
    long begin = clock.currentTimeMillis();
    machine.setWall(-DAY_MS);
    assertThat(clock.currentTimeMillis()).isEqualTo(begin);
    long latest = begin;
    for (long passed = 0; passed < 3 * DAY_MS; passed += 60_000) {
      machine.advanceMillis(60_000);
      long now = clock.currentTimeMillis();
      assertThat(now - latest).isBetween(30_000L, 60_000L);
      latest = now;
    }
    assertThat(latest).isEqualTo(machine.currentTimeMillis());
  }

  @Test
  void shouldGoOnAfterTheLatestTimeOfAnEarlierIncarnation() {
    long latest = machine.currentTimeMillis() + DAY_MS;
    clock.continueFrom(latest);
    assertThat(clock.currentTimeMillis()).isEqualTo(latest);
    machine.advanceMillis(1000);
    assertThat(clock.currentTimeMillis()).isEqualTo(latest + 500);
    clock.continueFrom(0);
    assertThat(clock.currentTimeMillis()).isEqualTo(latest + 500);
  }
}
