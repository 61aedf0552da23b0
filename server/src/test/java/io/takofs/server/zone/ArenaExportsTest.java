package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.server.DaemonThreads;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ArenaExportsTest {
  private final FakeDevice device = new FakeDevice();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private MappedMemory arena;

  @BeforeEach
  void map() throws Exception {
    arena = MappedMemory.anonymous(4096, false);
  }

  @AfterEach
  void unmap() {
    arena.close();
  }

  private ArenaExports exports() throws IOException {
    return new ArenaExports(device, List.of(arena), tasks::add);
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  private static TakoException refusal(ArenaExports exports) {
    return catchThrowableOfType(exports::take, TakoException.class);
  }

  @Test
  void shouldNotRegisterForTheConnectionThatComes() throws Exception {
    ArenaExports exports = exports();
    assertThat(device.registrations).hasValue(1);
    exports.take();
    TakoException refusal = refusal(exports);
    assertThat(refusal.status()).isEqualTo(Status.BUSY);
    assertThat(refusal).hasMessageContaining("try again");
    assertThat(refusal(exports)).isNotNull();
    assertThat(device.registrations).hasValue(1);
    assertThat(tasks).hasSize(1);
    runTasks();
    exports.take();
    exports.take();
    assertThat(refusal(exports)).isNotNull();
  }

  @Test
  void shouldHaveSomeAhead() throws Exception {
    ArenaExports exports = exports();
    runTasks();
    assertThat(device.registrations).hasValue(ArenaExports.AHEAD);
    for (int i = 0; i < 10; i++) {
      exports.take();
      runTasks();
    }
    assertThat(device.registrations).hasValue(10 + ArenaExports.AHEAD);
  }

  @Test
  void shouldSayWhyThePoolCannotBeRegisteredAndTryAgain() throws Exception {
    ArenaExports exports = exports();
    device.registrationFailure = new IOException("the limit of locked memory is 64 KiB");
    exports.take();
    runTasks();
    TakoException refusal = refusal(exports);
    assertThat(refusal.status()).isEqualTo(Status.UNAVAILABLE);
    assertThat(refusal).hasMessageContaining("locked memory is 64 KiB");
    assertThat(device.domains).hasValue(1);
    device.registrationFailure = null;
    runTasks();
    exports.take();
  }

  @Test
  void shouldKeepSomeOfWhatIsGivenBackAndCloseTheRest() throws Exception {
    ArenaExports exports = exports();
    List<ArenaExport> taken = new ArrayList<>();
    for (int i = 0; i < ArenaExports.SPARE_MAX + 4; i++) {
      runTasks();
      taken.add(exports.take());
    }
    runTasks();
    taken.forEach(exports::giveBack);
    runTasks();
    assertThat(device.domains).hasValue(ArenaExports.SPARE_MAX);
    exports.close();
    assertThat(device.domains).hasValue(0);
    assertThat(device.regions).hasValue(0);
  }

  @Test
  void shouldCloseWhatIsGivenBackLate() throws Exception {
    ArenaExports exports = exports();
    runTasks();
    ArenaExport used = exports.take();
    runTasks();
    exports.close();
    assertThat(device.domains).hasValue(1);
    exports.giveBack(used);
    runTasks();
    assertThat(device.domains).hasValue(0);
  }

  @Test
  void shouldLeaveNothingBehindWhenItIsClosedInTheMiddle() throws Exception {
    ExecutorService thread = DaemonThreads.create("tako-registration", 1, Integer.MAX_VALUE);
    CountDownLatch registering = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try {
      ArenaExports exports = new ArenaExports(device, List.of(arena), tasks::add);
      device.onRegister =
          () -> {
            registering.countDown();
            awaitQuietly(goOn);
          };
      thread.execute(tasks.remove());
      assertThat(registering.await(30, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<Void> closed = CompletableFuture.runAsync(exports::close);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (device.domains.get() > 1) { // the spare one is closed, the one being made is not
        assertThat(System.nanoTime() - deadline).as("still waiting").isLessThan(0);
        Thread.onSpinWait();
      }
      assertThat(closed).isNotDone();
      goOn.countDown();
      closed.get(30, TimeUnit.SECONDS);
      assertThat(device.domains).hasValue(0);
      assertThat(device.regions).hasValue(0);
      assertThat(tasks).isEmpty();
    } finally {
      goOn.countDown();
      thread.shutdown();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
