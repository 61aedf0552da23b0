package io.takofs.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.SelectStrategy;
import io.takofs.base.Clock;
import io.takofs.transport.Spin;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class SpinningSelectTest {
  private long nowNs;
  private int ready;
  private int yields;
  private int keptNs; // by others, whenever they may run
  private final SpinningSelect strategy =
      new SpinningSelect(
          new Clock() {
            @Override
            public long nanoTime() {
              return nowNs;
            }

            @Override
            public long currentTimeMillis() {
              throw new UnsupportedOperationException();
            }

            @Override
            public boolean yieldUntil(BooleanSupplier done, int times) {
              yields += times;
              nowNs += keptNs;
              return done.getAsBoolean();
            }
          });

  private int next(boolean hasTasks) throws Exception {
    return strategy.calculateStrategy(() -> ready, hasTasks);
  }

  @Test
  void shouldSleepAfterAMomentWithoutNews() throws Exception {
    assertThat(next(false)).isEqualTo(SelectStrategy.CONTINUE);
    nowNs += Spin.CEILING_NS - 1;
    assertThat(next(false)).isEqualTo(SelectStrategy.CONTINUE);
    nowNs += 1;
    assertThat(next(false)).isEqualTo(SelectStrategy.SELECT);
  }

  @Test
  void shouldLetOthersRunBetweenTwoLooksInVain() throws Exception {
    next(false);
    assertThat(yields).isZero();
    for (int look = 1; look <= 3; look++) {
      next(false);
      assertThat(yields).isEqualTo(look);
    }
    ready = 1;
    next(false);
    assertThat(yields).as("after news").isEqualTo(3);
  }

  @Test
  void shouldNotThinkItWasWorthItWhenOthersKeptTheProcessor() throws Exception {
    keptNs = 3_000_000;
    next(false);
    next(false);
    ready = 1;
    next(false); // the news came while others ran
    ready = 0;
    keptNs = 0;
    next(false);
    nowNs += Spin.CEILING_NS / 2;
    assertThat(next(false)).as("half as long").isEqualTo(SelectStrategy.SELECT);
    for (int i = 0; i < 10; i++) {
      next(false);
      nowNs += Spin.CEILING_NS;
      next(false);
    }
    int before = yields;
    next(false);
    next(false);
    assertThat(yields).as("who is disappointed keeps the processor, and sleeps").isEqualTo(before);
  }

  @Test
  void shouldSayWhatIsReadyWithoutSleeping() throws Exception {
    next(false);
    ready = 3;
    assertThat(next(false)).isEqualTo(3);
    ready = 0;
    assertThat(next(true)).as("tasks are waiting").isZero();
    assertThat(next(false)).isEqualTo(SelectStrategy.CONTINUE);
  }

  @Test
  void shouldSleepAtOnceWhereWaitingAwakeWasInVain() throws Exception {
    int looks = 0;
    for (int sleeps = 0; sleeps < 10; looks++) {
      nowNs += Spin.CEILING_NS / 16;
      sleeps += next(false) == SelectStrategy.SELECT ? 1 : 0;
    }
    // 17 looks for the first, half as many for the next, and so on; two at the floor.
    assertThat(looks).isBetween(40, 60);
  }
}
