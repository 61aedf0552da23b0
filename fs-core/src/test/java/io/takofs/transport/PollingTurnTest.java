package io.takofs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PollingTurnTest {
  private static final int WAITERS = 3;
  private static final int ROUNDS = 300;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(20);

  private final FakeQueue queue = new FakeQueue();
  private final PollingTurn turn = new PollingTurn(queue, this::poll, Clock.SYSTEM);
  private final AtomicReferenceArray<Thread> waiters = new AtomicReferenceArray<>(WAITERS);
  private final AtomicReferenceArray<Boolean> done = new AtomicReferenceArray<>(WAITERS);
  private final ExecutorService threads = Executors.newFixedThreadPool(WAITERS);

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  /** Completions are numbers of waiters; several can come in one batch. */
  private static final class FakeQueue implements CompletionQueue {
    private final LinkedBlockingQueue<List<Integer>> batches = new LinkedBlockingQueue<>();
    private final AtomicInteger inside = new AtomicInteger();

    @Override
    public int poll(CompletionHandler handler, int max) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void await(long timeoutNs) {
      assertThat(inside.incrementAndGet()).as("threads in the queue").isEqualTo(1);
      while (batches.isEmpty()) {
        LockSupport.parkNanos(this, 100_000);
      }
      inside.decrementAndGet();
    }

    @Override
    public void wakeup() {
      batches.add(List.of());
    }

    @Override
    public boolean onEvent(Runnable callback) {
      return false;
    }

    @Override
    public void close() {}
  }

  private void poll() {
    List<Integer> batch = queue.batches.poll();
    if (batch != null) {
      for (int waiter : batch) {
        done.set(waiter, true);
        LockSupport.unpark(waiters.get(waiter));
      }
    }
  }

  private List<Future<Boolean>> startWaiting() {
    List<Future<Boolean>> waits = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      int me = i;
      done.set(me, false);
      waiters.set(me, null);
      waits.add(
          threads.submit(
              () -> {
                waiters.set(me, Thread.currentThread());
                turn.await(() -> done.get(me), System.nanoTime() + LIMIT_NS);
                return done.get(me);
              }));
    }
    for (int i = 0; i < WAITERS; i++) {
      while (waiters.get(i) == null) {
        Thread.onSpinWait();
      }
    }
    return waits;
  }

  @Test
  void shouldPassTheTurnToOneWhoStillWaits() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      List<Future<Boolean>> waits = startWaiting();
      // Two are done at once, in whatever order they lead; the third has to find its own.
      int last = round % WAITERS;
      queue.batches.add(List.of((last + 1) % WAITERS, (last + 2) % WAITERS));
      waits.get((last + 1) % WAITERS).get();
      waits.get((last + 2) % WAITERS).get();
      queue.batches.add(List.of(last));
      long begin = System.nanoTime();
      assertThat(waits.get(last).get()).as("round %s", round).isTrue();
      assertThat(System.nanoTime() - begin).isLessThan(LIMIT_NS / 2);
    }
  }

  @Test
  void shouldWakeWhoeverIsDoneWithoutACompletionThePollerToo() throws Exception {
    List<Future<Boolean>> waits = startWaiting();
    for (int i = 0; i < WAITERS; i++) {
      done.set(i, true);
      turn.wake(waiters.get(i));
      assertThat(waits.get(i).get()).isTrue();
    }
  }

  @Test
  void shouldHaveNobodyInTheQueueOnceItIsEnded() throws Exception {
    List<Future<Boolean>> waits = startWaiting();
    turn.end();
    assertThat(queue.inside.get()).isZero();
    for (int i = 0; i < WAITERS; i++) {
      done.set(i, true);
      LockSupport.unpark(waiters.get(i));
      assertThat(waits.get(i).get()).isTrue();
    }
  }
}
