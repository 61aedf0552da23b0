package io.takofs.server.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.server.log.GroupConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CheckpointTakeoverTest {
  private static final List<Integer> SOURCES = List.of(3, 1, 2);
  private static final long PAUSE_NS = Duration.ofSeconds(1).toNanos();
  private static final long MAX_NS = PAUSE_NS << CheckpointTakeover.DOUBLINGS;

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<Integer> asked = new ArrayList<>();
  private boolean needed = true;
  private boolean fails = true;
  private long nowNs = Long.MAX_VALUE - 10; // clocks may begin anywhere
  private final CheckpointTakeover takeover =
      new CheckpointTakeover(() -> needed, this::attempt, PAUSE_NS);

  private void attempt(int server, BooleanSupplier stopped, Consumer<Throwable> ended) {
    tasks.add(
        () -> {
          asked.add(server);
          if (!fails) {
            needed = false;
          }
          ended.accept(fails ? new IOException("as the test wants it") : null);
        });
  }

  private void tick() {
    takeover.tick(nowNs, 3, SOURCES);
  }

  private void tickAndRun() {
    tick();
    for (Runnable each = tasks.poll(); each != null; each = tasks.poll()) {
      each.run();
    }
  }

  @Test
  void shouldDoNothingWhenNothingIsNeededOrNobodyHasIt() {
    needed = false;
    tickAndRun();
    needed = true;
    takeover.tick(nowNs, 3, List.of());
    assertThat(tasks).isEmpty();
    tickAndRun();
    assertThat(asked).containsExactly(3);
  }

  @Test
  void shouldAskOneAfterTheOtherAndBeginWithTheBest() {
    for (int i = 0; i < 5; i++) {
      tickAndRun();
      tick(); // which learns that it failed
      nowNs += MAX_NS;
    }
    assertThat(asked).containsExactly(3, 1, 2, 3, 1);
    fails = false;
    tickAndRun();
    tickAndRun();
    assertThat(asked).hasSize(6);
    needed = true;
    tickAndRun();
    assertThat(asked).endsWith(3);
  }

  @Test
  void shouldRestAfterAFailureForLongerEachTime() {
    long pauseNs = PAUSE_NS;
    for (int i = 1; i < 100; i++) {
      tickAndRun();
      assertThat(asked).hasSize(i);
      tickAndRun();
      nowNs += pauseNs - 1;
      tickAndRun();
      assertThat(asked).hasSize(i);
      nowNs += 1;
      pauseNs = Math.min(2 * pauseNs, MAX_NS);
    }
  }

  @Test
  void shouldBeginAtOnceWithAnotherLeader() {
    for (int i = 0; i < 5; i++) {
      tickAndRun();
      tick();
      nowNs += MAX_NS;
    }
    tickAndRun();
    takeover.tick(nowNs, 1, List.of(1, 3, 2));
    assertThat(tasks).hasSize(1);
    tasks.remove().run();
    assertThat(asked).endsWith(1);
    nowNs += PAUSE_NS - 1;
    takeover.tick(nowNs, 1, List.of(1, 3, 2));
    assertThat(tasks).isEmpty();
  }

  @Test
  void shouldBeginWithTheBestAfterASuccessThatWasNotEnough() {
    for (int i = 0; i < 2; i++) {
      tickAndRun();
      tick();
      nowNs += MAX_NS;
    }
    fails = false;
    tickAndRun();
    needed = true; // its log has been given up meanwhile
    fails = true;
    tickAndRun();
    assertThat(asked).containsExactly(3, 1, 2, 3);
    tick();
    nowNs += PAUSE_NS;
    tickAndRun();
    assertThat(asked).hasSize(5);
  }

  @Test
  void shouldGoOnRestingWhileNobodyOrTheSameMemberLeads() {
    for (int i = 0; i < 5; i++) {
      tickAndRun();
      tick();
      nowNs += MAX_NS;
    }
    tickAndRun();
    tick();
    nowNs += PAUSE_NS;
    takeover.tick(nowNs, 0, List.of(1, 2, 3));
    tick();
    assertThat(tasks).isEmpty();
  }

  @Test
  void shouldMakeOneAttemptAtATime() {
    tick();
    nowNs += Duration.ofHours(1).toNanos();
    tick();
    assertThat(tasks).hasSize(1);
  }

  @Test
  void shouldGoOnAfterAnAttemptThatEndsAtOnce() {
    CheckpointTakeover refused =
        new CheckpointTakeover(
            () -> true,
            (server, stopped, ended) -> {
              asked.add(server);
              ended.accept(new RejectedExecutionException("as the test wants it"));
            },
            PAUSE_NS);
    refused.tick(nowNs, 3, SOURCES);
    assertThat(refused.isBusy()).isFalse();
    refused.tick(nowNs, 3, SOURCES);
    refused.tick(nowNs + PAUSE_NS, 3, SOURCES);
    refused.close();
    assertThat(asked).containsExactly(3, 1);
  }

  @Test
  void shouldAskTheLeaderFirstAndThenWhoeverMayHaveAState() {
    GroupConfig active = new GroupConfig(7, Set.of(1, 2, 3), Set.of(1, 2, 4), true);
    assertThat(CheckpointTakeover.sources(5, 6, active, 2))
        .startsWith(5, 6)
        .hasSize(4)
        .contains(1, 3);
    assertThat(CheckpointTakeover.sources(0, 2, active, 2)).containsExactlyInAnyOrder(1, 3);
    GroupConfig changing = new GroupConfig(7, Set.of(1, 2, 3), Set.of(1, 2, 4), false);
    assertThat(CheckpointTakeover.sources(3, 3, changing, 2))
        .startsWith(3)
        .containsExactlyInAnyOrder(1, 3, 4);
  }

  @Test
  void shouldWaitForTheAttemptUnderWayWhenItIsClosed() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Void> goOn = new CompletableFuture<>();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      CheckpointTakeover waited =
          new CheckpointTakeover(
              () -> true,
              (server, stopped, ended) ->
                  threads.execute(
                      () -> {
                        begun.countDown();
                        goOn.join();
                        asked.add(stopped.getAsBoolean() ? server : -1);
                        ended.accept(null);
                      }),
              PAUSE_NS);
      waited.tick(nowNs, 3, SOURCES);
      begun.await();
      Future<?> closing = threads.submit(waited::close);
      assertThat(closing.isDone()).isFalse();
      goOn.complete(null);
      closing.get(30, TimeUnit.SECONDS);
      assertThat(asked).hasSize(1);
      waited.tick(nowNs, 3, SOURCES);
      assertThat(asked).hasSize(1);
    } finally {
      threads.shutdownNow();
    }
  }
}
