package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.BufferRegion;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.util.List;
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

    assertThat(log.segmentCount()).isBetween(4, 5);
  }

  private static ReplicatedLog leaderThatReachesNobody(int slots) throws TakoException {
    LogReplica replica =
        LogReplica.open(
            1,
            new LogFixture(slots, 4 * ENTRY_BYTES).zone(),
            new LogMemory(List.of(), heartbeat()),
            LogFixture.IDENTITY,
            0,
            () -> true);
    ReplicatedLog log = new ReplicatedLog(replica, null, 0);
    replica.prepare(PrepareLog.newBuilder().setTerm(1).setCandidate(1).build());
    log.setMembers(Set.of(1, 2, 3));
    log.lead(1);
    log.begin();
    return log;
  }

  private static MemoryRegion heartbeat() {
    ByteBuffer memory = ByteBuffer.allocate(Layout.HEARTBEAT_SIZE);
    return new BufferRegion(memory, 0, 1, Access.REMOTE_READ_WRITE) {
      @Override
      public void close() {
        // Nothing holds it.
      }
    };
  }
}
