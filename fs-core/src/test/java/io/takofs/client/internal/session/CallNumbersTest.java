package io.takofs.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CallNumbersTest {
  private static long soon() {
    return System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
  }

  @Test
  void shouldAcknowledgeBelowTheOldestOpenCall() throws TakoException {
    CallNumbers numbers = new CallNumbers(Clock.SYSTEM);
    long first = numbers.begin(soon());
    long second = numbers.begin(soon());
    numbers.end(second);
    assertThat(numbers.acknowledgedBelow()).isEqualTo(first);
    numbers.end(first);
    assertThat(numbers.acknowledgedBelow()).isEqualTo(second + 1);
  }

  @Test
  @Timeout(30)
  void shouldNotRunFartherAheadOfASlowCallThanTheServerKeepsResults() throws Exception {
    CallNumbers numbers = new CallNumbers(Clock.SYSTEM);
    long slow = numbers.begin(soon());
    for (int i = 1; i < CallNumbers.WINDOW; i++) {
      numbers.end(numbers.begin(soon()));
    }
    CompletableFuture<Long> next = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                next.complete(numbers.begin(soon()));
              } catch (TakoException e) {
                next.completeExceptionally(e);
              }
            });
    caller.start();
    while (caller.getState() != Thread.State.TIMED_WAITING) {
      assertThat(next).isNotDone();
      Thread.onSpinWait();
    }
    numbers.end(slow);
    assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo(slow + CallNumbers.WINDOW);
  }

  @Test
  @Timeout(30)
  void shouldWaitForASlowCallUntilTheDeadlineOnly() throws TakoException {
    CallNumbers numbers = new CallNumbers(Clock.SYSTEM);
    long slow = numbers.begin(soon());
    for (int i = 1; i < CallNumbers.WINDOW; i++) {
      numbers.end(numbers.begin(soon()));
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
    assertThatThrownBy(() -> numbers.begin(deadline))
        .isInstanceOf(TakoException.class)
        .hasFieldOrPropertyWithValue("status", Status.DEADLINE_EXCEEDED);
    assertThat(System.nanoTime() - deadline).isNotNegative();
    assertThat(numbers.acknowledgedBelow()).isEqualTo(slow);
  }
}
