package io.takofs.server;

import static io.takofs.server.TestClient.mkdirs;
import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.proto.GetUsage;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.groups.GroupMapping;
import io.takofs.server.loggroup.Callers;
import io.takofs.server.pool.PoolSizes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Groups that change while a session lives. */
@Timeout(60)
class CallersTest {
  private static final long KEPT_MS = TimeUnit.MINUTES.toMillis(5);

  private final ManualClock clock = new ManualClock();
  private final Queue<Runnable> lookups = new ArrayDeque<>();
  private final Groups groups = new Groups(clock);

  @TempDir Path directory;

  /** Everybody's groups, kept for five minutes as those of the system are. */
  private static final class Groups implements GroupMapping {
    private final ManualClock clock;
    private volatile List<String> now = List.of();
    private volatile List<String> answer = List.of();
    private volatile long knownNs = Long.MIN_VALUE / 2;

    Groups(ManualClock clock) {
      this.clock = clock;
    }

    @Override
    public List<String> known(String user) {
      long age = clock.nanoTime() - knownNs;
      return age < TimeUnit.MILLISECONDS.toNanos(KEPT_MS) ? answer : null;
    }

    @Override
    public List<String> resolve(String user) {
      if (now != null) {
        answer = now;
        knownNs = clock.nanoTime();
      }
      return now;
    }
  }

  @BeforeEach
  void resolve() {
    groups.resolve("carol");
  }

  private TestServer server() throws IOException {
    return new TestServer(directory, clock, PoolSizes.DATA_MIN, groups, this::look);
  }

  private synchronized void look(Runnable lookup) {
    lookups.add(lookup);
  }

  private synchronized int lookUp() {
    int count = lookups.size();
    while (!lookups.isEmpty()) {
      lookups.remove().run();
    }
    return count;
  }

  private static Status mkdir(TestClient client, String path) throws IOException {
    return client.call(mkdirs(path)).getStatus();
  }

  @Test
  void shouldGiveALivingSessionTheRightsThatItsUserGets() throws IOException {
    try (TestServer server = server();
        TestClient carol = new TestClient(server, "carol")) {
      assertThat(mkdir(carol, "/a")).isEqualTo(Status.PERMISSION_DENIED);
      groups.now = List.of("supergroup");
      clock.advanceMillis(KEPT_MS);
      mkdir(carol, "/a");
      mkdir(carol, "/a");
      assertThat(lookUp()).as("lookups for two calls").isEqualTo(1);
      assertThat(mkdir(carol, "/a")).isEqualTo(Status.OK);
      assertThat(lookUp()).isZero();
    }
  }

  @Test
  void shouldTakeFromALivingSessionTheRightsThatItsUserLoses() throws IOException {
    groups.now = List.of("supergroup");
    groups.resolve("carol");
    try (TestServer server = server();
        TestClient carol = new TestClient(server, "carol")) {
      assertThat(mkdir(carol, "/a")).isEqualTo(Status.OK);
      groups.now = List.of("staff");
      clock.advanceMillis(KEPT_MS - 1);
      assertThat(mkdir(carol, "/b")).isEqualTo(Status.OK);
      clock.advanceMillis(Callers.CHECK_MS);
      assertThat(mkdir(carol, "/c")).as("while it is looked up").isEqualTo(Status.OK);
      lookUp();
      assertThat(mkdir(carol, "/d")).isEqualTo(Status.PERMISSION_DENIED);
    }
  }

  @Test
  void shouldRefuseWhomNobodyKnowsForLong() throws IOException {
    groups.now = List.of("supergroup");
    groups.resolve("carol");
    try (TestServer server = server();
        TestClient carol = new TestClient(server, "carol")) {
      ok(carol.call(mkdirs("/a")));
      groups.now = null;
      clock.advanceMillis(KEPT_MS);
      assertThat(mkdir(carol, "/b")).isEqualTo(Status.OK);
      assertThat(lookUp()).isEqualTo(1);
      assertThat(mkdir(carol, "/b")).isEqualTo(Status.OK);
      assertThat(lookUp()).as("lookups right after one that failed").isZero();
      clock.advanceMillis(Callers.CHECK_MS);
      Reply refused = carol.call(mkdirs("/c"));
      assertThat(refused.getStatus()).isEqualTo(Status.UNAVAILABLE);
      assertThat(refused.getMessage()).contains("groups of carol");
      Request usage = Request.newBuilder().setGetUsage(GetUsage.getDefaultInstance()).build();
      assertThat(carol.call(usage).getStatus()).isEqualTo(Status.UNAVAILABLE);
      Request renewal =
          Request.newBuilder().setRenewLeases(RenewLeases.getDefaultInstance()).build();
      assertThat(carol.call(renewal).getStatus()).isEqualTo(Status.OK);
      groups.now = List.of("supergroup");
      assertThat(lookUp()).isEqualTo(1);
      assertThat(mkdir(carol, "/c")).isEqualTo(Status.OK);
    }
  }

  @Test
  void shouldRepeatTheReplyToACallOfSomebodyWhomNobodyKnowsAnyMore() throws IOException {
    groups.now = List.of("supergroup");
    groups.resolve("carol");
    try (TestServer server = server();
        TestClient carol = new TestClient(server, "carol")) {
      Reply first = ok(carol.call(TestClient.create("/a", 0)));
      groups.now = null;
      clock.advanceMillis(2 * KEPT_MS);
      assertThat(carol.call(carol.sequence, TestClient.create("/a", 0))).isEqualTo(first);
      assertThat(carol.call(TestClient.create("/b", 0)).getStatus()).isEqualTo(Status.UNAVAILABLE);
    }
  }

  private static List<String> groups(int count) {
    return IntStream.range(0, count).mapToObj(i -> "group%015d".formatted(i)).toList();
  }

  @Test
  void shouldServeSomebodyInManyGroupsAndRefuseSomebodyInTooMany() throws IOException {
    groups.now = groups(1500);
    groups.resolve("carol");
    try (TestServer server = server();
        TestClient carol = new TestClient(server, "carol")) {
      assertThat(carol.session.getGroupsCount()).isEqualTo(1500);
      groups.now = groups(10_000);
      groups.resolve("carol");
      clock.advanceMillis(Callers.CHECK_MS);
      Reply refused = carol.call(mkdirs("/a"));
      assertThat(refused.getStatus()).isEqualTo(Status.INVALID_ARGUMENT);
      assertThat(refused.getMessage())
          .contains("carol is in 10000 groups")
          .contains("fs.tako.server.groups");
      assertThat(carol.call(mkdirs("/b")).getStatus())
          .as("the next call, too: she may have more rights by her old groups")
          .isEqualTo(Status.INVALID_ARGUMENT);
      assertThatThrownBy(() -> new TestClient(server, "carol"))
          .hasFieldOrPropertyWithValue("status", Status.INVALID_ARGUMENT)
          .hasMessageContaining("carol is in 10000 groups");
    }
  }
}
