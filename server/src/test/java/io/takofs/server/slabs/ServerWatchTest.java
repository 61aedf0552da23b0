package io.takofs.server.slabs;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.server.ManualClock;
import io.takofs.server.peer.DataServers;
import io.takofs.server.slabs.ServerWatch.Health;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ServerWatchTest {
  private static final Set<Integer> HOLDING = Set.of(1, 2, 3, 4);

  private ServerEntry.State state = ServerEntry.State.UP; // of server 4; null: it was removed
  private long epoch = 1; // of server 4
  private final ManualClock clock = new ManualClock();

  private final DataServers servers =
      new DataServers() {
        @Override
        public void call(int serverId, Request request, Consumer<Reply> answer) {
          throw new AssertionError("a watch asks nobody");
        }

        @Override
        public void deliver() {}

        @Override
        public List<ServerEntry> servers() {
          return IntStream.rangeClosed(1, state == null ? 3 : 4)
              .mapToObj(
                  id ->
                      ServerEntry.newBuilder()
                          .setId(id)
                          .setState(id == 4 ? state : ServerEntry.State.UP)
                          .setEpoch(id == 4 ? epoch : 1)
                          .build())
              .toList();
        }
      };

  private final ServerWatch watch =
      new ServerWatch(
          clock,
          servers,
          new RepairSettings(
              Duration.ofSeconds(10), Duration.ofSeconds(60), 0, true, Duration.ZERO, 0));

  private void pass(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    watch.tick();
  }

  private void answer(int... ids) {
    watch.tick();
    for (int id : ids) {
      watch.answered(id);
    }
  }

  @Test
  void shouldCountAServerAsDeadThatWasSilentForTheInterval() {
    answer(1, 2, 3, 4);
    watch.failed(4);
    pass(9);
    assertThat(watch.health(4)).isEqualTo(Health.SUSPECT);
    answer(1, 2, 3);
    pass(1);
    assertThat(watch.health(4)).isEqualTo(Health.DEAD);
    assertThat(watch.health(3)).isEqualTo(Health.UP);
    watch.answered(4);
    assertThat(watch.health(4)).isEqualTo(Health.UP);
  }

  @Test
  void shouldCountNobodyAsDeadSoonAfterAStartUntilAllHaveAnswered() {
    answer(1, 2, 3);
    pass(59);
    assertThat(watch.health(4)).isEqualTo(Health.SUSPECT);
    pass(1);
    assertThat(watch.health(4)).isEqualTo(Health.DEAD);
  }

  @Test
  void shouldAwaitWhoMayBeStartingAsThisServerIs() {
    answer(1, 2, 3);
    watch.failed(4);
    assertThat(watch.isAwaited(4)).isTrue();
    pass(10);
    assertThat(watch.isAwaited(4)).isFalse();
  }

  @Test
  void shouldNotAwaitWhoFailsALeaderThatFollowedBefore() {
    clock.advance(Duration.ofSeconds(10)); // so long it was led by another server
    answer(1, 2);
    assertThat(watch.isAwaited(3)).as("it is being asked").isTrue();
    watch.failed(4);
    assertThat(watch.isAwaited(4)).isFalse();
    assertThat(watch.isAwaited(3)).isTrue();
  }

  @Test
  void shouldNotAwaitWhoFailsALeaderThatAppliedWhatAnotherOneCommitted() {
    watch.followed(); // a moment ago it was started again
    answer(1, 2);
    watch.failed(4);
    assertThat(watch.isAwaited(4)).isFalse();
    assertThat(watch.isAwaited(3)).isTrue();
  }

  @Test
  void shouldSayWhenTooManyAreSilent() {
    answer(1, 2, 3, 4);
    watch.failed(4);
    assertThat(watch.isAlone()).isFalse();
    watch.failed(3);
    assertThat(watch.isAlone()).isTrue();
  }

  @Test
  void shouldGoOnWithoutThoseThatAreSilentUntilTheyAnswer() {
    answer(1, 2, 3, 4);
    watch.failed(4);
    watch.goOn();
    assertThat(watch.goesWithout()).as("it was not alone").isEmpty();
    watch.failed(3);
    assertThat(watch.waitsFor()).as("for a moment only, maybe").isEmpty();
    pass(9);
    answer(1, 2);
    pass(1);
    assertThat(watch.waitsFor()).containsExactly(3, 4);
    watch.goOn();
    assertThat(watch.isAlone()).isFalse();
    assertThat(watch.waitsFor()).isEmpty();
    assertThat(watch.goesWithout()).containsExactly(3, 4);
    watch.failed(1);
    assertThat(watch.isAlone()).as("one of two").isFalse();
    watch.failed(2);
    assertThat(watch.isAlone()).as("nobody said so of these").isTrue();
    answer(1, 2, 3);
    assertThat(watch.goesWithout()).containsExactly(4);
    watch.failed(3);
    assertThat(watch.isAlone()).as("one of three").isFalse();
    watch.failed(2);
    assertThat(watch.isAlone()).isTrue();
    state = ServerEntry.State.LOST;
    pass(1);
    assertThat(watch.goesWithout()).isEmpty();
  }

  @Test
  void shouldAvoidWhatDoesNotAnswerTheLeaderOrTheClient() {
    answer(1, 2, 3, 4);
    watch.failed(4);
    watch.reported(7, 2);
    watch.answered(2);
    assertThat(watch.avoided(7, HOLDING)).containsExactly(2, 4);
    assertThat(watch.avoided(8, HOLDING)).containsExactly(4);
    assertThat(watch.forbidden(7, HOLDING)).containsExactly(2);
    assertThat(watch.forbidden(8, HOLDING)).isEmpty();
    pass(30);
    answer(1, 2, 3, 4);
    assertThat(watch.avoided(7, HOLDING)).isEmpty();
    IntStream.rangeClosed(1, 4).forEach(watch::failed);
    assertThat(watch.avoided(7, HOLDING)).as("there are no others").isEmpty();
    watch.reported(7, 3);
    assertThat(watch.avoided(7, HOLDING)).as("this one failed the client").containsExactly(3);
  }

  @Test
  void shouldNotAvoidAServerThatWasStartedAgain() {
    answer(1, 2, 3, 4);
    watch.reported(7, 3);
    watch.reported(7, 4);
    answer(1, 2, 3, 4);
    assertThat(watch.avoided(7, HOLDING)).containsExactly(3, 4);
    epoch++;
    answer(1, 2, 3, 4);
    assertThat(watch.avoided(7, HOLDING)).containsExactly(3);
  }

  @Test
  void shouldNotTakeALostServerForRemoved() {
    assertThat(watch.isRemoved(4)).as("it was never there").isTrue();
    state = ServerEntry.State.LOST;
    answer(1, 2, 3);
    assertThat(watch.isGone(4)).isTrue();
    assertThat(watch.isRemoved(4)).isFalse();
    state = null;
    pass(1);
    assertThat(watch.isGone(4)).isTrue();
    assertThat(watch.isRemoved(4)).isTrue();
    assertThat(watch.isRemoved(3)).isFalse();
  }

  @Test
  void shouldAvoidWhatIsNotUpInTheMap() {
    answer(1, 2, 3, 4);
    assertThat(watch.avoided(7, Set.of(1, 5))).as("it was removed").containsExactly(5);
    state = ServerEntry.State.DECOMMISSIONING;
    answer(1, 2, 3, 4);
    assertThat(watch.avoided(7, HOLDING)).containsExactly(4);
    state = ServerEntry.State.LOST;
    pass(1);
    IntStream.rangeClosed(1, 3).forEach(watch::failed);
    assertThat(watch.avoided(7, HOLDING)).containsExactly(4);
  }
}
