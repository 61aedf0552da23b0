package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.client.FakeGroup.Condition;
import io.takofs.client.FakeGroup.Sent;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests clients of a group whose leader changes: servers 2, 3 and 4 are its members. */
@Timeout(60)
class LeaderMoveTest {
  /** Memory of the servers, which is not cleared: what was there before is never read. */
  private static final ByteBuffer[] ARENAS = new ByteBuffer[3];

  private final List<FakeDataServer> servers = new ArrayList<>();
  private final ShiftedClock clock = new ShiftedClock();
  private FakeServer state;
  private FakeSlabs slabs;
  private FakeGroup group;
  private TakoClient client;

  @BeforeEach
  void start() throws IOException {
    state = new FakeServer(4 << 20, 2 * Layout.UNIT_SIZE);
    for (int id = 2; id <= 4; id++) {
      if (ARENAS[id - 2] == null) {
        ARENAS[id - 2] = ByteBuffer.allocateDirect(FakeSlabs.ARENA_SIZE);
      }
      servers.add(new FakeDataServer(id, ARENAS[id - 2]));
    }
    slabs = state.replicate(2, servers);
    group = new FakeGroup(state, slabs, servers, clock);
    client = connect("10s");
    client.mkdirs("/first");
  }

  @AfterEach
  void stop() {
    group.hold();
    client.close();
  }

  private TakoClient connect(String timeout) throws TakoException {
    TakoConfig config =
        new TakoConfig()
            .set("fs.tako.client.timeout", timeout)
            .set("fs.tako.client.connect.timeout", "2s")
            .set("fs.tako.client.backoff.min", "1ms");
    return new TakoClient(
        URI.create("tako://group"), config, "alice", group, clock, Background::daemon);
  }

  private FakeDataServer server(int id) {
    return servers.get(id - 2);
  }

  private List<String> askedFor(OperationCase operation) {
    return group.sent(operation).stream().map(Sent::server).toList();
  }

  private int made() {
    return state.executions(OperationCase.MKDIRS);
  }

  @Test
  void shouldSendACallAgainUnderItsNumberWhenItsLeaderWasDeposedMeanwhile() throws TakoException {
    group.deposeAfterNext(3);
    client.mkdirs("/a");
    assertThat(made()).isEqualTo(2);
    List<Sent> sent = group.sent(OperationCase.MKDIRS);
    assertThat(sent).hasSize(3);
    assertThat(sent.get(2).sequence()).isEqualTo(sent.get(1).sequence());
    assertThat(sent.get(1).server()).isEqualTo(server(2).name());
    assertThat(sent.get(2).server()).isEqualTo(server(3).name());
    assertThat(state.sessionCount()).isEqualTo(1);
  }

  @Test
  void shouldKnowThatAServerWhichDidNotLeadHasNotExecutedAChange() throws TakoException {
    group.lead(3);
    state.expireSessions();
    client.mkdirs("/a");
    assertThat(made()).isEqualTo(2);
    assertThat(askedFor(OperationCase.MKDIRS))
        .containsExactly(server(2).name(), server(2).name(), server(3).name());
  }

  @Test
  void shouldNotKnowWhetherAServerThatCeasedToLeadHasExecutedAChange() {
    group.deposeAfterNext(3);
    group.beForgetful();
    assertThatThrownBy(() -> client.mkdirs("/a"))
        .hasMessageContaining("/a")
        .hasMessageContaining("unknown");
    assertThat(made()).isEqualTo(2);
  }

  /** The leader cannot say any more whether it has executed a change, so it is asked before. */
  @Test
  void shouldNotSendAChangeToALeaderThatFrozeWhileTheClientRested() throws Exception {
    restUntilTheSessionHasEnded();
    group.lead(4);
    group.become(2, Condition.FROZEN);
    CompletableFuture<Void> call = Background.run(() -> client.mkdirs("/a"));
    call.get(8, TimeUnit.SECONDS); // of 10
    assertThat(made()).isEqualTo(2);
    String frozen = server(2).name();
    String leader = server(4).name();
    assertThat(askedFor(OperationCase.MKDIRS)).containsExactly(frozen, leader);
    assertThat(askedFor(OperationCase.RENEW_LEASES)).containsExactly(frozen);
    assertThat(askedFor(OperationCase.OPEN_SESSION)) // which ended it, and makes another
        .containsExactly(frozen, leader, leader);
  }

  @Test
  void shouldSayThatAChangeWasNotSentWhenTheLeaderIsSilentAfterARest() throws Exception {
    client.close();
    client = connect("1s");
    client.mkdirs("/a");
    clock.pass(FakeServer.SESSION_TTL_MS);
    group.become(2, Condition.FROZEN);
    assertThatThrownBy(() -> client.mkdirs("/b"))
        .hasMessageContaining("/b")
        .hasMessageContaining("was not sent");
    assertThat(askedFor(OperationCase.MKDIRS)).hasSize(2);
  }

  @Test
  void shouldNotTakeWhatAnyServerAnswersForASignOfItsSession() throws TakoException {
    restUntilTheSessionHasEnded();
    client.administration().clusterStatus();
    client.mkdirs("/a");
    assertThat(group.sent(OperationCase.RENEW_LEASES)).hasSize(1);
    assertThat(made()).isEqualTo(2);
  }

  private void restUntilTheSessionHasEnded() {
    clock.pass(FakeServer.SESSION_TTL_MS);
    state.expireSessions();
  }

  @Test
  void shouldNotAskForTheSessionWhileItIsUsed() throws TakoException {
    for (int i = 0; i < 16; i++) {
      clock.pass(FakeServer.SESSION_TTL_MS / 8);
      client.mkdirs("/first");
    }
    assertThat(group.sent(OperationCase.RENEW_LEASES)).isEmpty();
  }

  @Test
  void shouldGoToTheServerThatIsNamed() throws TakoException {
    group.lead(4);
    client.mkdirs("/a");
    assertThat(askedFor(OperationCase.OPEN_SESSION))
        .containsExactly(server(2).name(), server(4).name());
    assertThat(state.sessionCount()).isEqualTo(1);
  }

  @Test
  void shouldAskTheMembersInTurnWhenNobodyIsNamed() throws TakoException {
    group.lead(4);
    group.believe(2, 0);
    group.believe(3, 0);
    client.mkdirs("/a");
    assertThat(askedFor(OperationCase.OPEN_SESSION))
        .containsExactly(server(2).name(), server(3).name(), server(4).name());
    assertThat(made()).isEqualTo(2);
  }

  @Test
  void shouldKnowTheOtherMembersWhenTheOnlyConfiguredServerIsDown() throws TakoException {
    client.close();
    group.configure(List.of(server(2).name()));
    client = connect("10s");
    client.mkdirs("/a");
    group.become(2, Condition.DOWN);
    group.lead(3);
    client.mkdirs("/b");
    assertThat(made()).isEqualTo(3);
  }

  @Test
  void shouldNotGoBackToADeadLeaderThatOthersStillName() throws TakoException {
    group.become(2, Condition.DOWN);
    group.lead(4);
    group.believe(3, 2);
    client.mkdirs("/a");
    assertThat(askedFor(OperationCase.OPEN_SESSION))
        .containsExactly(server(2).name(), server(3).name(), server(4).name());
    assertThat(group.refusals()).isEqualTo(1);
  }

  @Test
  void shouldEndWithItsDeadlineWhenServersNameEachOther() throws TakoException {
    try (TakoClient hasty = connect("500ms")) {
      hasty.mkdirs("/a");
      group.loseLeader();
      group.believe(2, 3);
      group.believe(3, 2);
      long began = System.nanoTime();
      Throwable failure = catchThrowable(() -> hasty.mkdirs("/b"));
      long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
      assertThat(((TakoException) failure).status()).isEqualTo(Status.UNAVAILABLE);
      assertThat(failure)
          .hasMessageContaining("mkdirs /b")
          .hasMessageContaining("server 2 takes server 3 for the leader")
          .hasMessageContaining("server 3 takes server 2 for the leader");
      assertThat(failure.getMessage()).as("nobody executed it").doesNotContain("unknown");
      assertThat(tookMs).isBetween(300L, 5_000L);
      group.lead(2);
    }
  }

  @Test
  void shouldSayWhatEachServerSaidWhenNoneLeads() throws TakoException {
    try (TakoClient hasty = connect("500ms")) {
      hasty.getStatus("/"); // which is not there, and that is known only to a leader
    } catch (TakoException e) {
      assertThat(e.status()).isEqualTo(Status.NOT_FOUND);
    }
    try (TakoClient hasty = connect("500ms")) {
      group.loseLeader();
      group.become(2, Condition.DOWN);
      group.believe(3, 0);
      group.believe(4, 3);
      assertThatThrownBy(() -> hasty.mkdirs("/b"))
          .hasMessageContaining("connection refused by " + server(2).name())
          .hasMessageContaining(server(3).name() + " said: ")
          .hasMessageContaining("server 3 takes server 0 for the leader")
          .hasMessageContaining(server(4).name() + " said: ")
          .hasMessageContaining("server 4 takes server 3 for the leader");
      group.become(2, Condition.RUNNING);
      group.lead(2);
    }
  }

  @Test
  void shouldLeaveALeaderThatIsFrozen() throws Exception {
    group.become(2, Condition.FROZEN);
    CompletableFuture<Void> call = Background.run(() -> client.mkdirs("/a"));
    Background.awaitUntil(() -> group.sent(OperationCase.MKDIRS).size() == 2);
    group.lead(3);
    call.get(8, TimeUnit.SECONDS); // of 10
    List<Sent> sent = group.sent(OperationCase.MKDIRS);
    assertThat(sent.get(2).sequence()).isEqualTo(sent.get(1).sequence());
    assertThat(made()).isEqualTo(2);
  }

  @Test
  void shouldLeaveAFrozenLeaderForMembersThatCameAfterTheClient() throws Exception {
    client.close();
    group.configure(List.of(server(2).name()));
    group.show(2);
    client = connect("10s");
    client.mkdirs("/a");
    group.show(2, 3, 4);
    client.mkdirs("/b");
    group.become(2, Condition.FROZEN);
    group.lead(4);
    CompletableFuture<Void> call = Background.run(() -> client.mkdirs("/c"));
    call.get(8, TimeUnit.SECONDS); // of 10
    assertThat(made()).isEqualTo(4);
  }

  @Test
  void shouldNotWaitForAFrozenServerWhileOthersMayLead() throws Exception {
    group.become(2, Condition.FROZEN);
    group.lead(3);
    try (TakoClient stranger = connect("10s")) {
      CompletableFuture<Void> call = Background.run(() -> stranger.mkdirs("/a"));
      call.get(2, TimeUnit.SECONDS);
    }
  }

  @Test
  void shouldStayAtALeaderThatTakesItsTime() throws Exception {
    group.hold(OperationCase.MKDIRS);
    CompletableFuture<Void> call = Background.run(() -> client.mkdirs("/a"));
    Background.awaitUntil(() -> group.sent(OperationCase.GET_CLUSTER_STATUS).size() >= 2);
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100)); // for a move that there must not be
    assertThat(call).isNotDone();
    group.hold();
    call.get(8, TimeUnit.SECONDS);
    assertThat(group.sent(OperationCase.MKDIRS)).hasSize(2);
    assertThat(group.sent(OperationCase.OPEN_SESSION)).hasSize(1);
    assertThat(made()).isEqualTo(2);
  }

  @Test
  void shouldNotFollowAServerThatNamesOneThatDoesNotLead() throws Exception {
    group.believe(4, 3); // and 3 knows better
    group.hold(OperationCase.MKDIRS);
    CompletableFuture<Void> call = Background.run(() -> client.mkdirs("/a"));
    Background.awaitUntil(() -> group.sent(OperationCase.GET_CLUSTER_STATUS).size() >= 3);
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100)); // for a move that there must not be
    group.hold();
    call.get(8, TimeUnit.SECONDS);
    assertThat(group.sent(OperationCase.MKDIRS)).hasSize(2);
  }

  /** Its data is reached under the session that it refuses now. */
  @Test
  void shouldReadOnWhenTheLeaderLosesTheLeadBeforeItsDataIsReached() throws Exception {
    byte[] content = new byte[300_001];
    new Random(7).nextBytes(content);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content);
    }
    for (int leads = 2; leads <= 4; leads++) {
      group.lead(leads);
      try (TakoClient reader = connect("10s");
          TakoInputStream in = reader.open("/f")) {
        group.lead(leads == 4 ? 2 : leads + 1);
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
    }
  }

  @Test
  void shouldWriteOnWhileTheSessionMoves() throws Exception {
    byte[] content = new byte[700_001];
    new Random(7).nextBytes(content);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 300_000);
      out.hflush();
      int before = server(2).connects();
      group.lead(3);
      client.mkdirs("/moves");
      Background.awaitUntil(() -> server(2).connects() == before + 1); // it is told who is there
      out.write(content, 300_000, 200_000);
      out.hflush();
      group.lead(2);
      client.mkdirs("/comes-back");
      out.write(content, 500_000, content.length - 500_000);
    }
    try (TakoInputStream in = client.open("/f")) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    assertThat(servers).allMatch(each -> each.secondZones() == 0);
    assertThat(server(2).connects()).as("one for data and one for calls").isEqualTo(2);
    assertThat(server(3).connects()).isLessThanOrEqualTo(2);
    assertThat(state.sessionCount()).isEqualTo(1);
  }
}
