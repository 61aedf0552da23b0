package io.takofs.server;

import static io.takofs.server.TestClient.mkdirs;
import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.groups.GroupMapping;
import io.takofs.server.pool.PoolSizes;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many clients at once whose groups nobody knows yet. */
@Timeout(60)
class LookupThreadsTest {
  @TempDir Path directory;

  /** Knows root and nobody else, now or later. */
  private static final GroupMapping ROOT_ONLY =
      new GroupMapping() {
        @Override
        public List<String> known(String user) {
          return user.equals(TestServer.SUPERUSER) ? List.of() : null;
        }

        @Override
        public List<String> resolve(String user) {
          throw new IllegalStateException("nobody can be asked");
        }
      };

  @Test
  void shouldLetLookupsBeyondItsThreadsWait() throws Exception {
    ExecutorService threads = LookupThreads.create();
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(100);
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try {
      for (int i = 0; i < 100; i++) {
        threads.execute(
            () -> {
              most.accumulateAndGet(running.incrementAndGet(), Math::max);
              awaitQuietly(go);
              running.decrementAndGet();
              done.countDown();
            });
      }
      go.countDown();
      assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(most).hasValueLessThanOrEqualTo(LookupThreads.THREADS_MAX);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void shouldRefuseLookupsBeyondThoseThatMayWait() {
    ExecutorService threads = LookupThreads.create();
    CountDownLatch go = new CountDownLatch(1);
    try {
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 100_000; i++) {
                  threads.execute(() -> awaitQuietly(go));
                }
              })
          .isInstanceOf(RejectedExecutionException.class);
    } finally {
      go.countDown();
      threads.shutdownNow();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void expectUnavailable(Executor blocking) throws Exception {
    try (TestServer server =
        new TestServer(
            directory.resolve("pool"),
            new ManualClock(),
            PoolSizes.DATA_MIN,
            ROOT_ONLY,
            blocking)) {
      assertThatThrownBy(() -> new TestClient(server, "mallory").close())
          .isInstanceOf(TakoException.class)
          .hasFieldOrPropertyWithValue("status", Status.UNAVAILABLE);
      try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
        ok(client.call(mkdirs("/a")));
      }
    }
  }

  @Test
  void shouldAnswerWhenNoFurtherLookupMayWait() throws Exception {
    expectUnavailable(
        task -> {
          throw new RejectedExecutionException("full");
        });
  }

  @Test
  void shouldAnswerWhenThereIsNoMemoryForAThread() throws Exception {
    expectUnavailable(
        task -> {
          throw new OutOfMemoryError("unable to create native thread");
        });
  }

  @Test
  void shouldAnswerWhenALookupFails() throws Exception {
    ExecutorService threads = LookupThreads.create();
    try {
      expectUnavailable(threads);
    } finally {
      threads.shutdownNow();
    }
  }
}
