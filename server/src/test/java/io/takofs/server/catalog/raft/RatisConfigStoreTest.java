package io.takofs.server.catalog.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.Clock;
import io.takofs.base.FreePorts;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import io.takofs.server.TestServer;
import io.takofs.server.catalog.ConfigStore;
import io.takofs.server.catalog.ConfigStoreTests;
import io.takofs.server.catalog.PeerStatus;
import io.takofs.server.catalog.PeerStatus.Role;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three peers in one process, over tcp. */
@Timeout(180)
class RatisConfigStoreTest extends ConfigStoreTests {
  private static final int PEERS = 3;

  /** Between two questions who the peers are. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final ManualClock clock = new ManualClock();
  private final TreeMap<Integer, PeerNode> nodes = new TreeMap<>();
  private final List<String> peers = new ArrayList<>();
  private ServerSecret secret;

  @TempDir private Path directory;

  @BeforeEach
  void start() throws Exception {
    for (int port : new FreePorts(new Random()).onLoopback(PEERS)) {
      peers.add("127.0.0.1:" + port);
    }
    secret = secret("secret", "the cluster's secret");
    for (int i = 0; i < PEERS; i++) {
      start(i);
    }
    awaitPeers();
  }

  @AfterEach
  void stop() throws IOException {
    for (PeerNode node : nodes.values()) {
      node.close();
    }
  }

  private ServerSecret secret(String name, String text) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return ServerSecret.read(file.toString());
  }

  private void start(int i) throws IOException {
    nodes.put(i, new PeerNode(path(i), peers.get(i), peers, secret, clock));
  }

  private void stop(int i) throws IOException {
    nodes.remove(i).close();
  }

  private Path path(int i) {
    return directory.resolve("peer-" + i);
  }

  private void lose(int i) throws IOException {
    try (Stream<Path> files = Files.walk(path(i))) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Until all peers that run have the catalog and one of them leads. */
  private void awaitPeers() {
    TestServer.await(
        () -> {
          Clock.SYSTEM.pause(this, PAUSE_NS, () -> false);
          List<Role> roles = status().stream().map(PeerStatus::role).sorted().toList();
          return roles.get(0) == Role.LEADER
              && roles.subList(1, nodes.size()).stream().allMatch(Role.FOLLOWER::equals);
        });
  }

  private List<PeerStatus> status() {
    return any().peers();
  }

  private RatisConfigStore any() {
    return nodes.firstEntry().getValue().store();
  }

  /** The peer that leads, once one does: there may be another election on a busy machine. */
  private int leader() {
    AtomicInteger leader = new AtomicInteger();
    TestServer.await(
        () -> {
          leader.set(status().stream().map(PeerStatus::role).toList().indexOf(Role.LEADER));
          return leader.get() >= 0;
        });
    return leader.get();
  }

  private int follower() {
    int leader = leader();
    return nodes.keySet().stream().filter(i -> i != leader).findFirst().orElseThrow();
  }

  @Override
  protected ConfigStore store() {
    return nodes.get(1).store();
  }

  @Override
  protected void pass(Duration time) {
    clock.advance(time);
  }

  private static void set(ConfigStore store, String key, int value) throws TakoException {
    assertThat(store.compareAndSet(key, store.get(key).version(), bytes(value)))
        .isNotEqualTo(ConfigStore.LOST);
  }

  @Test
  void shouldHaveOneValueAtAllPeersAndGoOnAfterARestartOfAll() throws Exception {
    set(nodes.get(0).store(), "a", 1);
    for (PeerNode node : nodes.values()) {
      assertThat(node.store().get("a").bytes()).isEqualTo(bytes(1));
      set(node.store(), "a", 1);
    }
    long version = any().get("a").version();
    List<String> ids = status().stream().map(PeerStatus::id).toList();
    for (int i = 0; i < PEERS; i++) {
      stop(i);
    }
    for (int i = 0; i < PEERS; i++) {
      start(i);
    }
    assertThat(any().get("a").version()).isEqualTo(version);
    assertThat(status().stream().map(PeerStatus::id).toList()).isEqualTo(ids);
    set(any(), "a", 2);
  }

  @Test
  void shouldGoOnWithoutAFollowerAndWithoutItsLeader() throws Exception {
    int follower = follower();
    stop(follower);
    set(any(), "a", 1);
    start(follower);
    awaitPeers();
    assertThat(nodes.get(follower).store().get("a").bytes()).isEqualTo(bytes(1));
    stop(leader());
    set(any(), "a", 2); // within the store's limit, in which another one is elected
    assertThat(any().get("a").bytes()).isEqualTo(bytes(2));
  }

  @Test
  void shouldTakeAPeerWithoutItsDirectoryInAsANewOne() throws Exception {
    set(any(), "a", 1);
    for (int lost : List.of(follower(), leader())) {
      String former = status().get(lost).id();
      stop(lost);
      lose(lost);
      start(lost);
      awaitPeers();
      assertThat(status().get(lost).id()).isNotEqualTo(former);
      int other = (lost + 1) % PEERS;
      stop(other); // so that the new one's vote is needed
      set(any(), "a", 10 + lost);
      start(other);
      awaitPeers();
    }
    assertThat(any().values()).containsOnlyKeys("a");
  }

  @Test
  void shouldSayThatItIsUnavailableWithoutAMajority() throws Exception {
    set(any(), "a", 1);
    int last = follower();
    for (int i = 0; i < PEERS; i++) {
      if (i != last) {
        stop(i);
      }
    }
    RatisConfigStore store = any();
    long start = System.nanoTime();
    CompletableFuture<Throwable> got =
        CompletableFuture.supplyAsync(() -> catchThrowable(() -> store.get("a")));
    assertUnavailable(catchThrowable(() -> store.compareAndSet("b", 0, bytes(1))));
    assertUnavailable(got.get(60, TimeUnit.SECONDS));
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(60));
    start((last + 1) % PEERS);
    TestServer.await(() -> catchThrowable(() -> store.get("a")) == null);
    assertThat(store.get("a").bytes()).isEqualTo(bytes(1));
  }

  private void assertUnavailable(Throwable thrown) {
    assertThat(thrown).isInstanceOf(TakoException.class).hasMessageContaining(peers.get(0));
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.UNAVAILABLE);
  }

  @Test
  void shouldRefuseWhoDoesNotKnowTheSecret() throws Exception {
    set(any(), "a", 1);
    for (ServerSecret wrong :
        List.of(ServerSecret.NONE, secret("other", "another cluster's secret"))) {
      try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
          PeerConnections connections =
              new PeerConnections(transport, wrong, new SecureRandom(), Clock.SYSTEM);
          RatisConfigStore store = new RatisConfigStore(peers, connections, Clock.SYSTEM)) {
        long begun = System.nanoTime();
        Throwable thrown = catchThrowable(() -> store.get("a"));
        assertThat(System.nanoTime() - begun)
            .as("it is told from peers that cannot be reached, ns")
            .isLessThan(RatisConfigStore.LIMIT_NS / 2);
        assertThat(thrown)
            .isInstanceOf(TakoException.class)
            .hasMessageContaining("fs.tako.cluster.secret.file must be the same on all servers");
        assertThat(((TakoException) thrown).status()).isEqualTo(Status.PERMISSION_DENIED);
      }
    }
  }

  /** Its own peer is asked without a secret, and one of the others is down. */
  @Test
  void shouldSayAtOnceThatAPeerHasAnotherSecret() throws Exception {
    set(any(), "a", 1);
    int follower = follower();
    stop(follower);
    lose(follower);
    int down = follower();
    stop(down);
    ServerSecret wrong = secret("other", "another cluster's secret");
    nodes.put(follower, new PeerNode(path(follower), peers.get(follower), peers, wrong, clock));
    RatisConfigStore store = nodes.get(follower).store();
    long begun = System.nanoTime();
    Throwable thrown = catchThrowable(() -> store.get("a"));
    assertThat(System.nanoTime() - begun).isLessThan(RatisConfigStore.LIMIT_NS / 2);
    assertThat(thrown).hasMessageContaining("fs.tako.cluster.secret.file");
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.PERMISSION_DENIED);
  }

  @Test
  void shouldRefuseADirectoryThatLostItsLog() throws Exception {
    int follower = follower();
    stop(follower);
    Path log = path(follower).resolve("log");
    Files.move(log, directory.resolve("log"));
    assertThat(catchThrowable(() -> start(follower)))
        .hasMessageContaining(path(follower).toString())
        .hasMessageContaining("move all of it away");
    set(any(), "a", 1);
  }
}
