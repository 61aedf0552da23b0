package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.AskLog;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A member whose catalog was made again from a copy that may be older than what it knows. */
class OldCopyTest {
  private static final int SELF = 2;
  private static final int OTHER = 3;
  private static final long ACTED_ON = 4;
  private static final long RESTORED = 1000;
  private static final Duration LONG = Duration.ofSeconds(10);

  private final ManualClock clock = new ManualClock();
  private final SilentPeers peers = new SilentPeers();

  @Test
  void shouldNeitherStandNorMissALeaderForAnOlderCopy() throws Exception {
    LogMember member = member(ACTED_ON - 1);
    clock.advance(LONG);
    assertThat(missesLeader(member, ACTED_ON - 1)).isFalse();
    clock.advance(LONG);
    member.tick();
    member.stand();
    assertThat(peers.asked()).isEmpty();
    assertThat(member.role()).isEqualTo(LogMember.Role.FOLLOWER);
  }

  @Test
  void shouldStandWhenTheCopyIsAsNewAsWhatItKnows() throws Exception {
    LogMember member = member(ACTED_ON);
    clock.advance(LONG);
    assertThat(missesLeader(member, ACTED_ON)).isTrue();
    clock.advance(LONG);
    member.tick();
    assertThat(peers.asked()).isNotEmpty();
    assertThat(peers.asked().get(0).getAskLog().getCopiedEpochsList()).containsExactly(ACTED_ON);
  }

  private LogMember member(long copied) throws Exception {
    GroupConfig config =
        new GroupConfig(
            RESTORED, Set.of(1, SELF, OTHER), Set.of(1, SELF, OTHER), false, 0, List.of(copied));
    LogMember member = LogFixture.member(SELF, peers, config, clock);
    clock.advance(LONG);
    PrepareLog before =
        PrepareLog.newBuilder().setTerm(2).setCandidate(OTHER).setEpoch(ACTED_ON).build();
    assertThat(member.handle(Request.newBuilder().setPrepareLog(before).build()).getStatus())
        .isEqualTo(Status.OK);
    return member;
  }

  private static boolean missesLeader(LogMember member, long copied) {
    AskLog ask =
        AskLog.newBuilder()
            .setTerm(9)
            .setCandidate(OTHER)
            .setEpoch(RESTORED)
            .addCopiedEpochs(copied)
            .build();
    return member
        .handle(Request.newBuilder().setAskLog(ask).build())
        .getLogPosition()
        .getMissesLeader();
  }
}
