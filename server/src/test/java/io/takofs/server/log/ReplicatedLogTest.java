package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReplicatedLogTest {
  private static final int ENTRY_BYTES = 1024;

  @Test
  void shouldNotProposeMoreThanAMemberWithASmallLogHasRoomFor() throws Exception {
    ReplicatedLog log = leaderThatReachesNobody(100);

    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 1000; i++) {
                log.propose(ByteBuffer.allocate(ENTRY_BYTES));
              }
            })
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.NO_SPACE))
        .hasMessageContaining("no majority");

    assertThat(log.segmentCount()).isBetween(3, 4);
  }

  private static ReplicatedLog leaderThatReachesNobody(int slots) throws TakoException {
    LogReplica replica =
        LogReplica.open(
            1,
            new LogFixture(slots, 4 * ENTRY_BYTES).zone(),
            new LogTransports(),
            LogFixture.IDENTITY,
            0,
            () -> true);
    ReplicatedLog log = new ReplicatedLog(replica, 0);
    replica.prepare(PrepareLog.newBuilder().setTerm(1).setCandidate(1).build());
    log.setMembers(Set.of(1, 2, 3));
    log.open(1);
    log.begin();
    log.lead(1);
    return log;
  }
}
