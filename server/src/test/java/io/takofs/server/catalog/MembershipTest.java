package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GrantProof;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerEntry.State;
import io.takofs.proto.SessionTicket;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that join a catalog in memory, by hand. */
class MembershipTest {
  private static final Duration TTL = Duration.ofSeconds(9);

  private final ManualClock clock = new ManualClock();
  private final MemoryConfigStore store = new MemoryConfigStore(clock);
  private final CatalogClient catalog = new CatalogClient(store);

  /** A server's process: a pool, an address. */
  private final class Member implements Membership.Self {
    final ManualClock own = new ManualClock();
    long poolId;
    String host;
    String rack = "";
    long epoch = 1;
    long clusterId;
    int serverId;
    CatalogState copy = new CatalogState();
    Membership membership;

    Member(long poolId, String host) {
      this.poolId = poolId;
      this.host = host;
    }

    /** Starts, with what the pool remembers. */
    Member start() {
      Membership.Settings settings =
          new Membership.Settings(
              "bay", host.equals("one"), "one:1,two:1", Duration.ofMinutes(1), TTL);
      membership = new Membership(settings, this, store, own);
      tick();
      return this;
    }

    Member restart() {
      epoch++;
      return start();
    }

    void tick() {
      membership.tick();
    }

    String problem() {
      return membership.problem().orElse("");
    }

    @Override
    public Registration registration() {
      ServerEntry entry =
          ServerEntry.newBuilder()
              .setPoolId(poolId)
              .setHost(host)
              .setRack(rack)
              .setPort(1)
              .setEpoch(epoch)
              .build();
      return new Registration(clusterId, serverId, entry);
    }

    @Override
    public void joined(long cluster, int server) {
      clusterId = cluster;
      serverId = server;
    }

    @Override
    public void keep(CatalogState state) {
      copy = state;
    }

    @Override
    public CatalogState kept() {
      return copy;
    }
  }

  private void pass(Duration time, Member... living) {
    Duration step = Duration.ofSeconds(3);
    for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(step)) {
      clock.advance(step);
      for (Member each : living) {
        each.own.advance(step);
        each.tick();
      }
    }
  }

  private static State state(ClusterMap map, int id) throws TakoException {
    return ClusterMaps.server(map, id).getState();
  }

  @Test
  void shouldGiveEachServerANumberAndTheFirstTheNamespace() throws Exception {
    Member two = new Member(22, "two").start();
    assertThat(two.problem()).contains("empty", "one:1,two:1");
    assertThat(two.membership.serverId()).isZero();
    Member one = new Member(11, "one").start();
    two.tick();
    one.tick();
    assertThat(one.serverId).isEqualTo(1);
    assertThat(two.serverId).isEqualTo(2);
    assertThat(two.problem()).isEmpty();
    ClusterMap map = one.membership.map();
    assertThat(map).isEqualTo(two.membership.map());
    assertThat(map.getName()).isEqualTo("bay");
    assertThat(map.getGroupsList()).hasSize(1);
    assertThat(map.getGroups(0).getMembersList()).containsExactly(1);
    assertThat(one.clusterId).isEqualTo(map.getClusterId()).isNotZero();
  }

  @Test
  void shouldTellOfEachMap() throws Exception {
    Member one = new Member(11, "one").start();
    List<Long> epochs = new ArrayList<>();
    one.membership.onChange(map -> epochs.add(map.getEpoch()));
    long first = one.membership.map().getEpoch();
    one.tick();
    new Member(22, "two").start();
    one.tick();
    assertThat(epochs).containsExactly(first, first + 1);
  }

  @Test
  void shouldKnowAServerThatStartsAgainAtAnotherAddress() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    two.membership.close();
    two.host = "three";
    two.restart();
    assertThat(two.serverId).isEqualTo(2);
    one.tick();
    ServerEntry entry = ClusterMaps.server(one.membership.map(), 2);
    assertThat(entry.getHost()).isEqualTo("three");
    assertThat(entry.getEpoch()).isEqualTo(2);
    assertThat(one.membership.map().getServersCount()).isEqualTo(2);
  }

  @Test
  void shouldTakeAServerWithoutItsPoolForANewOne() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    Member anew = new Member(23, "two").start(); // The former one has its session still.
    assertThat(anew.problem()).contains("server 2 with another pool lives at two:1");
    pass(TTL.plusSeconds(3), one, anew);
    assertThat(anew.serverId).isEqualTo(3);
    assertThat(state(one.membership.map(), 2)).isEqualTo(State.LOST);
    assertThat(two.serverId).isEqualTo(2);
  }

  @Test
  void shouldBeginTheNamespaceAnewWithANewPoolOfItsServer() throws Exception {
    new Member(11, "one").start().membership.close();
    Member anew = new Member(12, "one").start();
    assertThat(anew.serverId).isEqualTo(2);
    assertThat(anew.membership.map().getGroups(0).getMembersList()).containsExactly(2);
  }

  @Test
  void shouldSayWhatItCouldNotTellWhenItJoined() throws Exception {
    Member one = new Member(11, "one").start();
    one.rack = "/r7";
    pass(Duration.ofMinutes(2), one);
    assertThat(ClusterMaps.server(one.membership.map(), 1).getRack()).isEqualTo("/r7");
    long epoch = one.membership.map().getEpoch();
    pass(Duration.ofMinutes(2), one);
    assertThat(one.membership.map().getEpoch()).isEqualTo(epoch);
  }

  @Test
  void shouldGiveTheTermsOfANamespaceThatBeginsEmptyAnotherUpperHalf() throws Exception {
    Member one = new Member(11, "one").start();
    long epoch = one.membership.map().getGroups(0).getConfigEpoch();
    one.membership.close();
    one.restart();
    assertThat(term(one)).as("terms come with elections").isEqualTo(1);
    one.membership.close();

    Member anew = new Member(12, "one").start();
    assertThat(term(anew)).isEqualTo(1L << 32);
    assertThat(anew.membership.map().getGroups(0).getConfigEpoch()).isEqualTo(epoch + 1);
    assertThat(anew.membership.map().getGroups(0).getPreviousList()).isEmpty();
  }

  private static long term(Member leader) {
    return leader.membership.map().getGroups(0).getTerm();
  }

  /** A server with a copy of the pool of {@code of}, at another address. */
  private Member copy(Member of) {
    Member copy = new Member(of.poolId, "three");
    copy.clusterId = of.clusterId;
    copy.serverId = of.serverId;
    copy.epoch = of.epoch;
    return copy;
  }

  private static void assertRefusedForItsPool(Member second, Member first) {
    assertThat(second.problem())
        .contains("two servers have the same pool", "this one (" + second.host + ":1)")
        .contains("the one at " + first.host + ":1, which joined first", "remove the copy")
        .doesNotContain("--format");
    assertThat(second.membership.serverId()).isZero();
  }

  @Test
  void shouldRefuseACopyOfAPoolOfAServerThatLives() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    Member copy = copy(two).start();
    assertRefusedForItsPool(copy, two);
    pass(TTL.multipliedBy(2), one, two, copy);
    assertRefusedForItsPool(copy, two);
    assertThat(ClusterMaps.server(one.membership.map(), 2).getHost()).isEqualTo("two");
  }

  /** It stands still for longer than its session lives, and a copy is started meanwhile. */
  @Test
  void shouldKnowThatACopyOfThePoolHasItsPlace() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    pass(TTL.multipliedBy(2), one);
    two.own.advance(TTL.multipliedBy(2));
    Member copy = copy(two).start();
    assertThat(copy.membership.serverId()).isEqualTo(2);
    assertThat(two.membership.isReplaced()).isFalse();
    two.tick();
    assertThat(two.membership.isReplaced()).isTrue();
    assertThat(copy.membership.isReplaced()).isFalse();
    copy.membership.close();
    two.tick();
    assertThat(two.membership.isReplaced()).isFalse();
    copy.tick();
    assertThat(copy.membership.isReplaced()).isTrue();
  }

  @Test
  void shouldRefuseAServerWhoseCopyLivesUntilThatStops() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    two.membership.close();
    Member copy = copy(two).start();
    two.start();
    assertRefusedForItsPool(two, copy);
    pass(TTL.multipliedBy(2), one, two, copy);
    assertRefusedForItsPool(two, copy);
    copy.membership.close();
    two.tick();
    assertThat(two.membership.serverId()).isEqualTo(2);
    assertThat(ClusterMaps.server(two.membership.map(), 2).getHost()).isEqualTo("two");
  }

  /** Each of them found that the other one has no session yet. */
  @Test
  void shouldLetOneOfTwoServersWithOnePoolJoinThatStartTogether() throws Exception {
    new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    two.membership.close();
    two.epoch++;
    Member copy = copy(two);
    CountDownLatch waits = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    store.beforeSet(
        "session/2",
        () -> {
          waits.countDown();
          await(goesOn);
        });
    CompletableFuture<Void> started = CompletableFuture.runAsync(two::start);
    await(waits);
    store.beforeSet(
        "map",
        () -> {
          goesOn.countDown();
          started.join();
        });
    copy.start();
    assertRefusedForItsPool(two, copy);
    assertThat(copy.membership.serverId()).isEqualTo(2);
    assertThat(ClusterMaps.server(copy.membership.map(), 2).getHost()).isEqualTo("three");
    two.tick();
    assertRefusedForItsPool(two, copy);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldLetOneOfTwoServersWithOneNewPoolJoin() throws Exception {
    new Member(11, "one").start();
    Member two = new Member(22, "two");
    Member copy = new Member(22, "three");
    store.beforeSet("session/2", copy::start); // The number is given, and nobody has the session.
    two.start();
    assertRefusedForItsPool(two, copy);
    assertThat(ClusterMaps.server(catalog.map(), 2).getHost()).isEqualTo("three");
    assertThat(catalog.map().getServersCount()).isEqualTo(2);
  }

  @Test
  void shouldGiveUpTheSessionOfAServerThatIsRefusedThen() throws Exception {
    new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    two.membership.close();
    store.beforeSet("session/2", () -> remove(2));
    two.restart();
    assertThat(two.problem()).contains("which has removed it");
    assertThat(catalog.lives(2)).isFalse();
  }

  private void remove(int server) {
    try {
      catalog.change(map -> ClusterMaps.mark(map, server, State.LOST));
      catalog.change(map -> ClusterMaps.remove(map, server));
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldRefuseAnOldCopyOfAPool() throws Exception {
    new Member(11, "one").start();
    Member two = new Member(22, "two").start().restart();
    two.membership.close();
    two.epoch = 1;
    two.start();
    assertThat(two.problem()).contains("incarnation 1", "incarnation 2");
  }

  @Test
  void shouldRefuseAServerOfAnotherCluster() throws Exception {
    new Member(11, "one").start();
    Member two = new Member(22, "two");
    two.clusterId = 0xabc;
    two.serverId = 4;
    two.start();
    assertThat(two.problem()).contains("belongs to cluster 0000000000000abc", "bay");
  }

  @Test
  void shouldNotBeginASecondClusterWhenTheCatalogIsGone() throws Exception {
    Member one = new Member(11, "one");
    one.clusterId = 7;
    one.serverId = 1;
    one.start();
    assertThat(one.problem()).contains("is empty", "server 1 of cluster");
    assertThat(catalog.map()).isNull();
  }

  @Test
  void shouldRefuseAClockThatIsFarOffAndSayBothTimes() throws Exception {
    new Member(11, "one").start();
    Member two = new Member(22, "two");
    two.own.advance(Duration.ofMinutes(2));
    two.start();
    assertThat(two.problem()).contains("2024-10-04T00:02:00Z", "2024-10-04T00:00:00Z", "60 s");
    clock.advance(Duration.ofSeconds(70));
    two.tick();
    assertThat(two.serverId).isEqualTo(2);
  }

  @Test
  void shouldRefuseAServerOfAnotherProtocol() throws Exception {
    new Member(11, "one").start();
    store.compareAndSet(
        "protocol", store.get("protocol").version(), "999".getBytes(StandardCharsets.UTF_8));
    Member two = new Member(22, "two").start();
    assertThat(two.problem()).contains("protocol 999");
  }

  @Test
  void shouldRegisterAnewAfterASilenceAndAfterItWasMarkedLost() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    pass(TTL.multipliedBy(2), one);
    assertThat(catalog.lives(2)).isFalse();
    catalog.change(map -> ClusterMaps.mark(map, 2, State.LOST));
    pass(TTL, one, two);
    assertThat(catalog.lives(2)).isTrue();
    assertThat(state(one.membership.map(), 2)).isEqualTo(State.UP);
    assertThat(two.serverId).isEqualTo(2);
  }

  @Test
  void shouldDecommissionAndRemoveWhatHasNoNamespace() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    Membership member = one.membership;
    assertRefused(() -> catalog.change(map -> ClusterMaps.mark(map, 1, State.DECOMMISSIONING)));
    assertRefused(() -> catalog.change(map -> ClusterMaps.remove(map, 2)));
    ClusterMap map = catalog.change(m -> ClusterMaps.mark(m, 2, State.DECOMMISSIONING));
    assertThat(state(map, 2)).isEqualTo(State.DECOMMISSIONING);
    two.restart();
    assertThat(state(two.membership.map(), 2)).isEqualTo(State.DECOMMISSIONING);
    member.emptied(1); // is not to leave
    member.emptied(2);
    pass(TTL.dividedBy(2), one, two);
    assertThat(state(member.map(), 1)).isEqualTo(State.UP);
    assertThat(state(member.map(), 2)).isEqualTo(State.DECOMMISSIONED);
    map = catalog.change(m -> ClusterMaps.remove(m, 2));
    assertThat(map.getServersCount()).isEqualTo(1);
    assertThat(two.membership.refusal()).isEmpty();
    pass(TTL.dividedBy(2), one, two);
    assertThat(two.membership.refusal().orElse("")).contains("which has removed it");
    assertThat(one.membership.refusal()).isEmpty();
    two.membership.close();
    two.restart();
    assertThat(two.problem())
        .contains("server 2 of cluster bay, which has removed it")
        .contains("remove the directory of its pool"); // --format alone refuses while it has a pool
    // Its number is never used again.
    assertThat(new Member(33, "two").start().serverId).isEqualTo(3);
  }

  private static void assertRefused(ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(TakoException.class);
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldKnowWhatItSignedUntilTheSecondRotation() throws Exception {
    Member one = new Member(11, "one").start();
    SessionTicket ticket = one.membership.keys().ticket(5, 1);
    assertThat(ticket.getAuthenticator().size()).isEqualTo(16);
    assertThat(one.membership.keys().isGood(ticket, 5)).isTrue();
    assertThat(one.membership.keys().isGood(ticket, 6)).isFalse();
    assertThat(one.membership.keys().isGood(ticket.toBuilder().setGroup(2).build(), 5)).isFalse();
    assertThat(one.membership.keys().isGood(ticket.toBuilder().clearAuthenticator().build(), 5))
        .isFalse();
    catalog.rotateKeys(new SecureRandom());
    one.tick();
    assertThat(one.membership.keys().isGood(ticket, 5)).isTrue();
    assertThat(one.membership.keys().ticket(5, 1).getKey()).isEqualTo(2);
    catalog.rotateKeys(new SecureRandom());
    one.tick();
    assertThat(one.membership.keys().isGood(ticket, 5)).isFalse();
  }

  @Test
  void shouldKnowTheGrantsThatItProvedUntilTheSecondRotation() throws Exception {
    Member one = new Member(11, "one").start();
    OpenWindows.Window bare =
        OpenWindows.Window.newBuilder()
            .setArena(1)
            .setOffset(65536)
            .setCapacity(131072)
            .setGrant(9)
            .setLease(3)
            .build();
    GrantProof proof = one.membership.keys().proof(bare, 5, 2);
    assertThat(proof.getServer()).isEqualTo(2);
    assertThat(proof.getAuthenticator().size()).isEqualTo(16);
    OpenWindows.Window window =
        bare.toBuilder().setKey(proof.getKey()).setAuthenticator(proof.getAuthenticator()).build();
    ClusterKeys keys = one.membership.keys();
    assertThat(keys.isGood(window, 5, 2)).isTrue();
    assertThat(keys.isGood(window, 6, 2)).as("another client").isFalse();
    assertThat(keys.isGood(window, 5, 3)).as("another server").isFalse();
    assertThat(keys.isGood(bare, 5, 2)).as("no proof").isFalse();
    assertThat(keys.isGood(window.toBuilder().setArena(2).build(), 5, 2)).isFalse();
    assertThat(keys.isGood(window.toBuilder().setOffset(0).build(), 5, 2)).isFalse();
    assertThat(keys.isGood(window.toBuilder().setCapacity(65536).build(), 5, 2)).isFalse();
    assertThat(keys.isGood(window.toBuilder().setGrant(10).build(), 5, 2)).isFalse();
    assertThat(keys.isGood(window.toBuilder().setLease(4).build(), 5, 2)).isFalse();
    catalog.rotateKeys(new SecureRandom());
    one.tick();
    assertThat(one.membership.keys().isGood(window, 5, 2)).isTrue();
    catalog.rotateKeys(new SecureRandom());
    one.tick();
    assertThat(one.membership.keys().isGood(window, 5, 2)).isFalse();
  }

  @Test
  void shouldSignNothingAndBelieveAllWithoutKeys() {
    SessionTicket ticket = ClusterKeys.NONE.ticket(5, 1);
    assertThat(ticket.getAuthenticator().isEmpty()).isTrue();
    assertThat(ClusterKeys.NONE.isGood(ticket, 5)).isTrue();
  }

  @Test
  void shouldKnowServersByTheirSecret(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("secret");
    Files.writeString(file, "0123456789abcdef\n");
    assertThat(catchThrowable(() -> ServerSecret.read("" + file)))
        .hasMessageContaining("chmod 600");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    ServerSecret secret = ServerSecret.read("" + file);
    OpenServerSession session =
        secret.sign(OpenServerSession.newBuilder().setServer(2).setChallenge(9).build(), 3);
    assertThat(secret.isGood(session, 3)).isTrue();
    assertThat(secret.isGood(session, 4)).isFalse();
    assertThat(secret.isGood(session.toBuilder().setServer(1).build(), 3)).isFalse();
    assertThat(secret.isGood(session.toBuilder().clearAuthenticator().build(), 3)).isFalse();
    assertThat(ServerSecret.NONE.isGood(session, 4)).isTrue();
  }

  /** A store that does not answer while it is away. */
  private Member startWhileTheCatalogIsAway(Member member, boolean fast) {
    member.epoch++;
    Membership.Settings settings =
        new Membership.Settings(
            "bay", member.host.equals("one"), "one:1,two:1", Duration.ofMinutes(1), TTL);
    member.membership = new Membership(settings, member, new AwayStore(fast), member.own);
    member.tick();
    return member;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldGoOnWithItsCopyWhileTheCatalogIsAway(boolean fast) throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start(); // which keeps its copy before it has joined
    ClusterMap map = two.membership.map();
    startWhileTheCatalogIsAway(two, fast);
    assertThat(two.problem()).contains("away");
    assertThat(two.membership.serverId()).isEqualTo(2);
    assertThat(two.membership.map()).isEqualTo(map);
    assertThat(two.membership.keys().isGood(one.membership.keys().ticket(5, 1), 5)).isTrue();
    one.tick();
    startWhileTheCatalogIsAway(
        one, fast); // the first of the list, too: its promise keeps its terms
    assertThat(one.membership.serverId()).isEqualTo(1);
    Member copied = new Member(33, "two"); // with another pool, the copy is of no use
    copied.copy = two.copy;
    copied.clusterId = two.clusterId;
    copied.serverId = 2;
    startWhileTheCatalogIsAway(copied, fast);
    assertThat(copied.membership.serverId()).isZero();
  }

  @Test
  void shouldMakeALostCatalogAgainFromACopy() throws Exception {
    Member one = new Member(11, "one").start();
    Member two = new Member(22, "two").start();
    two.tick();
    ClusterMap former = two.membership.map();
    long version = store.get("map").version();
    assertThat(catchThrowable(() -> catalog.restore(two.copy))).hasMessageContaining("not empty");
    MemoryConfigStore next = new MemoryConfigStore(clock);
    ClusterMap map = new CatalogClient(next).restore(two.copy);
    assertThat(map.getServersList()).isEqualTo(former.getServersList());
    assertThat(map.getEpoch()).isGreaterThan(former.getEpoch());
    assertThat(map.getLastServerId()).isGreaterThan(former.getLastServerId());
    assertThat(map.getGroups(0).getTerm()).isGreaterThan(former.getGroups(0).getTerm());
    assertThat(map.getGroups(0).getConfigEpoch())
        .as("members refuse earlier ones")
        .isGreaterThan(former.getGroups(0).getConfigEpoch());
    assertThat(map.getGroups(0).getActive()).isFalse();
    assertThat(next.get("map").version()).isGreaterThan(version);
    assertThat(next.get("session/1").isPresent()).isFalse();
    assertThat(new CatalogClient(next).keys().isGood(one.membership.keys().ticket(5, 1), 5))
        .isTrue();
  }
}
