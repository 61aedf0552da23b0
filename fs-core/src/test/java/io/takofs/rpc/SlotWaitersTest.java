package io.takofs.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.transport.PollingTurn;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers that wait for a slot are woken in turn; no wake-up is lost. */
@Timeout(60)
class SlotWaitersTest {
  private final LoopbackTransport transport = new LoopbackTransport(false);
  private final PollingTurn polling =
      new PollingTurn(transport.createCompletionQueue(1), () -> {}, new StandingClock());
  private final SlotWaiters waiters = new SlotWaiters();
  private final List<String> woken = new CopyOnWriteArrayList<>();

  /** Deadlines never pass. */
  private static final class StandingClock implements Clock {
    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public long currentTimeMillis() {
      return 0;
    }
  }

  /** A thread that does nothing until it is unparked, then notes its name and ends. */
  private final class Caller extends Thread {
    private final CountDownLatch started = new CountDownLatch(1);
    private volatile boolean mayEnd;

    Caller(String name) throws InterruptedException {
      super(name);
      setDaemon(true);
      start();
      started.await();
    }

    @Override
    public void run() {
      // The permit that unpark gives is what is looked for: nothing else ends the parking for good.
      started.countDown();
      LockSupport.park(this);
      if (!mayEnd) {
        woken.add(getName());
      }
    }

    void end() throws InterruptedException {
      mayEnd = true;
      LockSupport.unpark(this);
      join();
    }
  }

  @AfterEach
  void close() {
    transport.close();
  }

  @Test
  void shouldWakeNobodyWhenNobodyWaits() {
    waiters.wakeFirst(polling);
    waiters.wakeAll(polling);
    waiters.wakeAll(null); // of a connection that was never made
    waiters.remove(Thread.currentThread());
    assertThat(woken).isEmpty();
  }

  @Test
  void shouldWakeThemInTheOrderInWhichTheyCame() throws InterruptedException {
    Caller first = new Caller("first");
    Caller second = new Caller("second");
    Caller third = new Caller("third");
    List.of(first, second, third).forEach(waiters::add);
    for (Caller each : List.of(first, second, third)) {
      waiters.wakeFirst(polling);
      each.join();
      waiters.remove(each); // as one that was woken does
    }
    assertThat(woken).containsExactly("first", "second", "third");
  }

  @Test
  void shouldWakeTheFirstAgainUntilItHasTakenItselfOut() throws InterruptedException {
    Caller first = new Caller("first");
    Caller second = new Caller("second");
    waiters.add(first);
    waiters.add(second);
    waiters.wakeFirst(polling);
    first.join();
    waiters.wakeFirst(polling); // still the first's
    second.end();
    assertThat(woken).containsExactly("first");
  }

  @Test
  void shouldPassOverOneThatGaveUp() throws InterruptedException {
    Caller first = new Caller("first");
    Caller second = new Caller("second");
    waiters.add(first);
    waiters.add(second);
    waiters.remove(first); // its deadline has passed
    waiters.wakeFirst(polling);
    second.join();
    first.end();
    assertThat(woken).containsExactly("second");
  }

  @Test
  void shouldPutOneThatComesAgainAtTheEnd() throws InterruptedException {
    Caller first = new Caller("first");
    Caller second = new Caller("second");
    waiters.add(first);
    waiters.add(second);
    waiters.remove(first); // woken, and another took the slot
    waiters.add(first);
    waiters.wakeFirst(polling);
    second.join();
    waiters.remove(second);
    waiters.wakeFirst(polling);
    first.join();
    assertThat(woken).containsExactly("second", "first");
  }

  @Test
  void shouldWakeAllWhenTheConnectionEnds() throws InterruptedException {
    List<Caller> all = List.of(new Caller("first"), new Caller("second"), new Caller("third"));
    all.forEach(waiters::add);
    waiters.wakeAll(polling);
    for (Caller each : all) {
      each.join();
    }
    assertThat(woken).containsExactlyInAnyOrder("first", "second", "third");
  }
}
