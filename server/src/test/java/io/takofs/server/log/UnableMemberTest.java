package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.AskLog;
import io.takofs.proto.Request;
import io.takofs.server.ManualClock;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A member that cannot lead, or should not, lets another one that misses the leader, too. */
class UnableMemberTest {
  private static final int SELF = 2;
  private static final int OTHER = 1;
  private static final long NEXT = 2; // epoch
  private static final Duration LONG = Duration.ofSeconds(10);
  private static final GroupConfig ALL =
      new GroupConfig(NEXT, Set.of(OTHER, SELF, 3), Set.of(OTHER), false);
  private static final GroupConfig FORMER = new GroupConfig(1, Set.of(OTHER), Set.of(), true);

  private final ManualClock clock = new ManualClock();
  private final SilentPeers peers = new SilentPeers();

  /** Its copy of the catalog is older than the configuration of which it is a member. */
  @Test
  void shouldMissTheLeaderWhenItDoesNotKnowThatItIsAMember() throws Exception {
    assertMisses(member(FORMER));
  }

  @Test
  void shouldMissTheLeaderWhenItHasNoState() throws Exception {
    LogMember member = member(ALL);
    assertThat(member.setUnable()).isTrue();
    assertMisses(member);
    clock.advance(LONG);
    member.setAble();
    member.tick();
    assertThat(member.role()).isEqualTo(LogMember.Role.ASKING);
  }

  /** It has followed nobody, so those that have followed the last leader come first. */
  @Test
  void shouldMissTheLeaderAndNotStandWhenItHasJustJoined() throws Exception {
    LogMember member = member(0, ALL);
    clock.advance(LONG); // it is looked after only once it has joined
    member.joined(SELF);
    member.tick();
    assertThat(member.role()).isEqualTo(LogMember.Role.FOLLOWER);
    assertThat(missesLeader(member)).isTrue();
    clock.advance(LONG);
    member.tick();
    assertThat(member.role()).isEqualTo(LogMember.Role.ASKING);
  }

  /** A leader that has called may die before it is connected, which nobody would see. */
  @Test
  void shouldLetOthersStandUntilALeaderIsConnected() throws Exception {
    LogReplica replica =
        LogReplica.open(
            SELF,
            new LogFixture(4, 4096).zone(),
            new LogTransports(),
            LogFixture.IDENTITY,
            0,
            () -> true);
    LogTimes times = new LogTimes(50, 300, 600, 50, 0);
    LeaderWatch watch = new LeaderWatch(replica, new FixedCatalog(ALL), times, new Random(1), 0);
    watch.leaveToOthers(0);
    watch.called();
    assertThat(watch.isMissing(0)).isTrue();
    watch.heard();
    assertThat(watch.isMissing(0)).isFalse();
  }

  /** It does so however often it has looked since. */
  private void assertMisses(LogMember member) {
    assertThat(missesLeader(member)).isFalse();
    clock.advance(LONG);
    for (int i = 0; i < 3; i++) {
      member.tick();
      assertThat(member.pauseNs()).isPositive();
      clock.advance(Duration.ofNanos(member.pauseNs()));
    }
    assertThat(missesLeader(member)).isTrue();
    assertThat(member.stand(0)).isFalse();
    assertThat(peers.asked()).isEmpty();
    assertThat(member.role()).isEqualTo(LogMember.Role.FOLLOWER);
  }

  private LogMember member(GroupConfig config) throws Exception {
    return member(SELF, config);
  }

  private LogMember member(int number, GroupConfig config) throws Exception {
    return LogFixture.member(number, peers, config, clock);
  }

  private static boolean missesLeader(LogMember member) {
    AskLog ask = AskLog.newBuilder().setTerm(9).setCandidate(OTHER).setEpoch(NEXT).build();
    return member
        .handle(Request.newBuilder().setAskLog(ask).build())
        .getLogPosition()
        .getMissesLeader();
  }
}
