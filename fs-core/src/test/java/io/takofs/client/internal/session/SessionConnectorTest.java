package io.takofs.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.FakeServer;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    Connector asked = watched(server, deadlineNs -> timeouts.add(deadlineNs - System.nanoTime()));
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

  /** Sees an attempt before it is made. */
  @FunctionalInterface
  private interface Attempt {
    void begins(long deadlineNs) throws IOException;
  }

  private static Connector watched(Connector connector, Attempt attempt) {
    return (Connector)
        Proxy.newProxyInstance(
            Connector.class.getClassLoader(),
            new Class<?>[] {Connector.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("connect")) {
                attempt.begins((long) arguments[1]);
              }
              return method.invoke(connector, arguments);
            });
  }

  /** A time that passes when it is told to. */
  private static final class HandClock implements Clock {
    private final AtomicLong ns = new AtomicLong();

    @Override
    public long nanoTime() {
      return ns.get();
    }

    @Override
    public long currentTimeMillis() {
      return TimeUnit.NANOSECONDS.toMillis(ns.get());
    }

    @Override
    public void parkNanos(Object blocker, long nanos) {
      ns.addAndGet(nanos);
    }
  }

  /** The time is over when the server without sessions has named the other one again. */
  @Test
  void shouldSayWhyTheServerWithSessionsWasNotReached() {
    HandClock clock = new HandClock();
    AtomicReference<String> asked = new AtomicReference<>("follower:1");
    AtomicInteger refusals = new AtomicInteger();
    Connector ways =
        connector(
            asked,
            () -> {
              if (asked.get().equals("leader:1")) {
                throw new IOException("cannot connect to leader:1");
              }
              return connection(
                  request -> {
                    if (request.hasOpenSession() && refusals.incrementAndGet() == 2) {
                      clock.ns.addAndGet(SECOND);
                    }
                    return request.hasOpenSession()
                        ? Reply.newBuilder().setStatus(Status.NOT_LEADER).build()
                        : Reply.newBuilder().setClusterMap(led()).build();
                  });
            });
    SessionConnector redirected =
        new SessionConnector(
            ways, "alice", "test", SECOND, new Backoff.Limits(1_000_000, 5_000_000), clock);
    assertThatThrownBy(() -> redirected.get(10 * SECOND, "stat"))
        .hasMessageStartingWith("stat: cannot connect to leader:1 (tried for ");
    assertThat(refusals).hasValue(2);
    assertThat(redirected.follower()).isEqualTo("follower:1");
  }

  /** An attempt in the last milliseconds would say nothing, and take the place of what was said. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldBeginNoAttemptInTheLastFifthOfTheTime(boolean silent) {
    HandClock clock = new HandClock();
    AtomicReference<String> asked = new AtomicReference<>("follower:1");
    List<Long> times = attempts(silent, clock, asked);
    assertThat(times).hasSizeGreaterThan(2).allMatch(ns -> ns >= SECOND / 5);
  }

  /** Of one that answered while the time was running out. */
  @Test
  void shouldGoToTheLeaderThatWasJustNamed() throws Exception {
    HandClock clock = new HandClock();
    AtomicReference<String> asked = new AtomicReference<>("follower:1");
    Connector ways =
        connector(
            asked,
            () ->
                connection(
                    request -> {
                      if (!request.hasOpenSession()) {
                        return Reply.newBuilder().setClusterMap(led()).build();
                      }
                      if (asked.get().equals("leader:1")) {
                        return Reply.newBuilder()
                            .setSession(SessionTerms.newBuilder().setClientId(7))
                            .build();
                      }
                      clock.ns.addAndGet(SECOND * 9 / 10);
                      return Reply.newBuilder().setStatus(Status.NOT_LEADER).setLeader(1).build();
                    }));
    SessionConnector late =
        new SessionConnector(
            ways, "alice", "test", SECOND, new Backoff.Limits(1_000_000, 5_000_000), clock);
    late.get(10 * SECOND, "stat");
    assertThat(asked).hasValue("leader:1");
  }

  /** The time that each attempt was given, at servers that are silent or refuse at once. */
  private static List<Long> attempts(
      boolean silent, HandClock clock, AtomicReference<String> asked) {
    List<Long> times = new ArrayList<>();
    Connector failing =
        watched(
            connector(asked, () -> null),
            deadlineNs -> {
              long left = deadlineNs - clock.nanoTime();
              times.add(left);
              clock.ns.addAndGet(silent ? left : 1);
              throw new IOException("no answer");
            });
    SessionConnector asking =
        new SessionConnector(
            failing, "alice", "test", SECOND, new Backoff.Limits(1_000_000, 5_000_000), clock);
    asking.learn(led());
    assertThatThrownBy(() -> asking.get(10 * SECOND, "stat")).hasMessageContaining("no answer");
    return times;
  }

  /** A pause would only come after all of them were asked. */
  @Test
  void shouldAskTheOtherServerAtOnceWhenThatOfTheSessionIsGone() throws Exception {
    HandClock clock = new HandClock();
    AtomicReference<String> asked = new AtomicReference<>("follower:1");
    AtomicReference<String> gone = new AtomicReference<>("");
    Connector ways =
        connector(
            asked,
            () -> {
              if (asked.get().equals(gone.get())) {
                throw new IOException("cannot connect to " + gone.get());
              }
              return connection(
                  request ->
                      request.hasOpenSession()
                          ? Reply.newBuilder()
                              .setSession(SessionTerms.newBuilder().setClientId(7))
                              .build()
                          : Reply.getDefaultInstance());
            });
    SessionConnector moving =
        new SessionConnector(
            ways, "alice", "test", SECOND, new Backoff.Limits(1_000_000, 5_000_000), clock);
    moving.learn(led());
    OpenSession first = moving.get(10 * SECOND, "stat");
    long before = clock.nanoTime();
    gone.set("follower:1");
    first.close();
    moving.get(10 * SECOND, "stat");
    assertThat(asked).hasValue("leader:1");
    assertThat(clock.nanoTime() - before).isZero();
  }

  private static ClusterMap led() {
    return ClusterMap.newBuilder()
        .addServers(ServerEntry.newBuilder().setId(1).setHost("leader").setPort(1))
        .addServers(ServerEntry.newBuilder().setId(2).setHost("follower").setPort(1))
        .addGroups(GroupEntry.newBuilder().setId(1).addMembers(1))
        .build();
  }

  /**
   * One that connects by {@code connect} to whom it was sent last, the follower where to nobody.
   */
  private static Connector connector(
      AtomicReference<String> asked, Callable<ServerConnection> connect) {
    return (Connector)
        Proxy.newProxyInstance(
            Connector.class.getClassLoader(),
            new Class<?>[] {Connector.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "connect" -> connect.call();
                  case "server" -> asked.get();
                  case "servers" -> List.of("follower:1");
                  case "redirect" -> {
                    asked.set((String) arguments[0]);
                    yield null;
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static ServerConnection connection(Function<Request, Reply> answers) {
    AtomicBoolean closed = new AtomicBoolean();
    return (ServerConnection)
        Proxy.newProxyInstance(
            ServerConnection.class.getClassLoader(),
            new Class<?>[] {ServerConnection.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "call" -> answers.apply((Request) arguments[2]);
                  case "isOpen" -> !closed.get();
                  case "transportVerdict" -> "";
                  case "close" -> {
                    closed.set(true);
                    yield null;
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
