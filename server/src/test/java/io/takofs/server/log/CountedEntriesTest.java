package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogPosition;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * An election in which one of the members has lost an entry that the leader counted there: whether
 * it may be committed is a matter of who else may have it.
 */
class CountedEntriesTest {
  private static final int LEADER = 1; // that is gone
  private static final int SELF = 2;
  private static final LogPosition LOST =
      LogPosition.newBuilder().setMissesLeader(true).setCountedIndex(1).build();
  private static final LogPosition NEVER_HAD =
      LogPosition.newBuilder().setMissesLeader(true).build();

  private final ManualClock clock = new ManualClock();

  @Test
  void shouldNotLeadWithoutWhatAMajorityMayHave() throws Exception {
    assertWaitsFor(Set.of(LEADER, SELF, 3), Map.of(3, LOST));
  }

  @Test
  void shouldLeadWithoutWhatNoMajorityCanHave() throws Exception {
    LogMember member =
        standing(
            new GroupConfig(2, Set.of(LEADER, SELF, 3, 4), Set.of(), true),
            Map.of(3, LOST, 4, NEVER_HAD));
    assertThat(member.role()).isEqualTo(LogMember.Role.OPENING);
  }

  @Test
  void shouldNotLeadBeforeEnoughOfFiveSayThatTheyNeverHadIt() throws Exception {
    Set<Integer> five = Set.of(LEADER, SELF, 3, 4, 5);
    assertWaitsFor(five, Map.of(3, LOST, 4, NEVER_HAD));
    assertWaitsFor(five, Map.of(3, LOST, 4, LOST, 5, NEVER_HAD));
    LogMember member =
        standing(
            new GroupConfig(2, five, Set.of(), true), Map.of(3, LOST, 4, NEVER_HAD, 5, NEVER_HAD));
    assertThat(member.role()).isEqualTo(LogMember.Role.OPENING);
  }

  /** A leader counts the members of its own configuration alone, whichever of the two that is. */
  @Test
  void shouldNotLeadWithoutWhatOneOfTwoConfigurationsMayHaveCommitted() throws Exception {
    GroupConfig next = new GroupConfig(2, Set.of(LEADER, SELF, 3), Set.of(LEADER, SELF, 4), false);
    assertWaitsFor(next, Map.of(3, LOST, 4, NEVER_HAD));
    assertWaitsFor(next, Map.of(3, NEVER_HAD, 4, LOST));
    LogMember member =
        standing(
            new GroupConfig(2, Set.of(LEADER, SELF, 3, 4), Set.of(LEADER, SELF, 4, 5), false),
            Map.of(3, LOST, 4, NEVER_HAD, 5, NEVER_HAD));
    assertThat(member.role()).isEqualTo(LogMember.Role.OPENING);
  }

  /** A leader of a later term, whose log another one has, had all that was committed. */
  @Test
  void shouldNotWaitForWhatALeaderCountedBeforeALaterOneLed() throws Exception {
    LogPosition later = NEVER_HAD.toBuilder().setAcceptedTerm(5).build();
    LogMember member =
        standing(
            new GroupConfig(2, Set.of(LEADER, SELF, 3, 4, 5), Set.of(), true),
            Map.of(3, LOST, 4, later));
    assertThat(member.role()).isEqualTo(LogMember.Role.FOLLOWER); // it cannot read that log here
    assertThat(member.shortage()).isEmpty();
  }

  private void assertWaitsFor(Set<Integer> members, Map<Integer, LogPosition> answers)
      throws Exception {
    assertWaitsFor(new GroupConfig(2, members, Set.of(), true), answers);
  }

  private void assertWaitsFor(GroupConfig config, Map<Integer, LogPosition> answers)
      throws Exception {
    LogMember member = standing(config, answers);
    assertThat(member.role()).isIn(LogMember.Role.PREPARING, LogMember.Role.FOLLOWER);
    clock.advance(Duration.ofSeconds(10));
    member.tick();
    assertThat(member.role()).isEqualTo(LogMember.Role.FOLLOWER);
    assertThat(member.shortage()).contains("entries up to 1 may be committed");
  }

  private LogMember standing(GroupConfig config, Map<Integer, LogPosition> answers)
      throws Exception {
    LogMember member = LogFixture.member(SELF, new Answering(answers), config, clock);
    clock.advance(Duration.ofSeconds(10));
    member.tick();
    return member;
  }

  /** Members that miss the leader and promise; those without an answer are silent. */
  private static final class Answering extends SilentPeers {
    private final Map<Integer, LogPosition> positions;

    Answering(Map<Integer, LogPosition> positions) {
      this.positions = positions;
    }

    @Override
    public void call(int server, Request request, Consumer<Reply> answer) {
      super.call(server, request, answer);
      LogPosition position = positions.get(server);
      if (position != null) {
        answer.accept(Reply.newBuilder().setStatus(Status.OK).setLogPosition(position).build());
      }
    }
  }
}
