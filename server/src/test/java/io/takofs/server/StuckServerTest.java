package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.config.TakoConfig;
import io.takofs.proto.GetServerStatus;
import io.takofs.proto.Request;
import io.takofs.server.groups.GroupMapping;
import io.takofs.server.http.HttpEndpoint;
import io.takofs.server.http.Site;
import io.takofs.server.pool.PoolSizes;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The pages of a server whose lock, or whose operating system, does not answer. */
@Timeout(60)
class StuckServerTest {
  /** All of a round; fewer than would pass if each waited by itself. */
  private static final Duration TOGETHER = Duration.ofSeconds(8);

  private static final String PAGE_USER = "alice";

  @TempDir Path directory;

  private final SlowGroups groups = new SlowGroups();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpClient client = HttpClient.newHttpClient();
  private TestServer server;
  private HttpEndpoint endpoint;

  /** Of "holder" they are known at first; asked again, under the lock, they take their time. */
  private static final class SlowGroups implements GroupMapping {
    final CountDownLatch locked = new CountDownLatch(1);
    final CountDownLatch go = new CountDownLatch(1);
    private volatile boolean asked;
    private volatile boolean pageUserKnown = true;

    @Override
    public List<String> known(String user) {
      if (user.equals("holder")) {
        if (asked) {
          locked.countDown();
          awaitGo();
        }
        asked = true;
      }
      return user.equals(PAGE_USER) && !pageUserKnown ? null : List.of();
    }

    @Override
    public List<String> resolve(String user) {
      awaitGo();
      pageUserKnown = true;
      return List.of();
    }

    private void awaitGo() {
      try {
        assertThat(go.await(50, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @BeforeEach
  void start() throws Exception {
    server = testServer("pool");
    Site site =
        new Site(
            server.server,
            URI.create("tako://host:7420"),
            new TakoConfig(),
            Optional.of(PAGE_USER),
            Clock.SYSTEM);
    endpoint = HttpEndpoint.listen("127.0.0.1", 0, site);
  }

  private TestServer testServer(String pool) throws Exception {
    return new TestServer(
        directory.resolve(pool), new ManualClock(), PoolSizes.DATA_MIN, groups, threads);
  }

  @AfterEach
  void stop() {
    groups.go.countDown();
    endpoint.close();
    server.close();
    threads.shutdownNow();
  }

  private CompletableFuture<HttpResponse<String>> get(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(endpoint.url() + path)).timeout(TOGETHER).build();
    return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
  }

  private void holdTheLock() throws Exception {
    var unused =
        threads.submit(
            () -> {
              new TestClient(server, "holder").close();
              return null;
            });
    assertThat(groups.locked.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldTellOtherServersHowItWasWhenTheLockIsHeld() throws Exception {
    Request ask =
        Request.newBuilder().setGetServerStatus(GetServerStatus.getDefaultInstance()).build();
    endpoint.close();
    server.close();
    server = testServer("unasked"); // no page has asked it either
    holdTheLock();
    long capacity = server.server.answerServer(ask).getServerStatus().getUsage().getCapacity();
    groups.go.countDown();
    assertThat(capacity).isEqualTo(server.server.status().getUsage().getCapacity());
    assertThat(capacity).isPositive();
  }

  @Test
  void shouldSaySoOnEveryPageWhenTheLockIsHeld() throws Exception {
    holdTheLock();
    List<CompletableFuture<HttpResponse<String>>> answers =
        List.of(
            get("metrics"),
            get("status"),
            get(""),
            get("clients"),
            get("files"),
            get("leases"),
            get("health"));
    for (var answer : answers) {
      HttpResponse<String> page = answer.get();
      assertThat(page.statusCode()).as("%s", page.uri()).isEqualTo(503);
      assertThat(page.body()).contains("has held the server for more than");
    }
    groups.go.countDown();
    // It holds for nobody any longer than it lasts.
    TestServer.await(() -> get("health").join().statusCode() == 200);
    TestServer.await(() -> get("status").join().statusCode() == 200);
  }

  @Test
  void shouldNotWaitLongForTheGroupsOfThePagesUser() throws Exception {
    groups.pageUserKnown = false;
    List<CompletableFuture<HttpResponse<String>>> answers =
        List.of(get("files"), get("leases"), get("files"));
    assertThat(get("health").get().statusCode()).isEqualTo(200);
    for (var answer : answers) {
      assertThat(answer.get().statusCode()).isEqualTo(503);
      assertThat(answer.get().body()).contains("groups of " + PAGE_USER + " are not known");
    }
    groups.go.countDown();
    TestServer.await(() -> get("files").join().statusCode() == 200);
  }
}
