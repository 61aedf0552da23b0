package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CallNumbersTest {
  @Test
  void shouldAcknowledgeBelowTheOldestOpenCall() {
    CallNumbers numbers = new CallNumbers();
    long first = numbers.begin();
    long second = numbers.begin();
    numbers.end(second);
    assertThat(numbers.acknowledgedBelow()).isEqualTo(first);
    numbers.end(first);
    assertThat(numbers.acknowledgedBelow()).isEqualTo(second + 1);
  }

  @Test
  @Timeout(30)
  void shouldNotRunFartherAheadOfASlowCallThanTheServerKeepsResults() throws Exception {
    CallNumbers numbers = new CallNumbers();
    long slow = numbers.begin();
    for (int i = 1; i < CallNumbers.WINDOW; i++) {
      numbers.end(numbers.begin());
    }
    CompletableFuture<Long> next = new CompletableFuture<>();
    Thread caller = new Thread(() -> next.complete(numbers.begin()));
    caller.start();
    while (caller.getState() != Thread.State.WAITING) {
      assertThat(next).isNotDone();
      Thread.onSpinWait();
    }
    numbers.end(slow);
    assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo(slow + CallNumbers.WINDOW);
  }
}
