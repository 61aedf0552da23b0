package io.takofs.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.FakeServer;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the calls of one thread while another one connects. */
@Timeout(60)
class SessionConnectorTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final FakeServer server = new FakeServer(1 << 20, 65536);
  private final SessionConnector connector =
      new SessionConnector(
          server, "alice", "test", SECOND, new Backoff.Limits(1_000_000, 5_000_000), Clock.SYSTEM);

  /** Gets an open session on another thread, and returns when that thread has begun to connect. */
  private CompletableFuture<OpenSession> getWhileTheServerRefuses() {
    server.disconnectAll();
    server.refuseConnections(Integer.MAX_VALUE);
    CompletableFuture<OpenSession> got = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                got.complete(connector.get(System.nanoTime() + 30 * SECOND, "stat"));
              } catch (TakoException e) {
                got.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    long giveUp = System.nanoTime() + 20 * SECOND;
    while (server.connectionsRefused() == 0) {
      assertThat(System.nanoTime() - giveUp).describedAs("does not connect").isNegative();
      Thread.onSpinWait();
    }
    return got;
  }

  @Test
  void shouldNotWaitForADeadlineWhenItIsShutWhileConnecting() throws Exception {
    connector.get(System.nanoTime() + SECOND, "first");
    CompletableFuture<OpenSession> connecting = getWhileTheServerRefuses();
    assertThat(CompletableFuture.supplyAsync(connector::shut).get(10, TimeUnit.SECONDS)).isNull();
    assertThatThrownBy(() -> connecting.get(10, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void shouldLeaveTimeForAnotherAttemptWhileTheSessionLives() throws Exception {
    List<Long> timeouts = new ArrayList<>();
    Connector asked =
        (Connector)
            Proxy.newProxyInstance(
                Connector.class.getClassLoader(),
                new Class<?>[] {Connector.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("connect")) {
                    timeouts.add((long) arguments[1] - System.nanoTime());
                  }
                  return method.invoke(server, arguments);
                });
    SessionConnector resuming =
        new SessionConnector(
            asked,
            "alice",
            "test",
            300 * SECOND,
            new Backoff.Limits(1_000_000, 5_000_000),
            Clock.SYSTEM);
    OpenSession open = resuming.get(System.nanoTime() + 400 * SECOND, "first");
    long lifeNs = TimeUnit.MILLISECONDS.toNanos(open.terms().getSessionTtlMs());
    server.disconnectAll();
    resuming.get(System.nanoTime() + 400 * SECOND, "second");
    assertThat(timeouts).hasSize(2);
    assertThat(timeouts.get(0)).isBetween(200 * SECOND, 300 * SECOND);
    assertThat(timeouts.get(1)).isBetween(1L, Math.max(2 * SECOND, lifeNs / 2));
  }

  @Test
  void shouldForgetASessionWhileAnotherThreadConnects() throws Exception {
    OpenSession open = connector.get(System.nanoTime() + SECOND, "first");
    CompletableFuture<OpenSession> connecting = getWhileTheServerRefuses();
    CompletableFuture.runAsync(() -> connector.forget(open)).get(10, TimeUnit.SECONDS);
    server.refuseConnections(0);
    assertThat(connecting.get(10, TimeUnit.SECONDS).identity()).isNotSameAs(open.identity());
  }
}
