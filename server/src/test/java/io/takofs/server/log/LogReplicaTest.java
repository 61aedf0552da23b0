package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogSegment;
import io.takofs.transport.MemoryRegion;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogReplicaTest {
  @Test
  void shouldNeedACheckpointWhenTheBestLogBeginsLater() throws Exception {
    MemoryRegion heartbeat = ReplicatedLogTest.heartbeat();
    LogReplica replica =
        LogReplica.open(
            1,
            new LogFixture(4, 4096).zone(),
            new LogMemory(List.of(), heartbeat),
            LogFixture.IDENTITY,
            23,
            () -> true);
    LogSegment first = LogSegment.newBuilder().setSequence(133).setBaseIndex(802).build();

    assertThat(replica.continuesWith(first)).isFalse();
    assertThat(replica.missingIndex()).isEqualTo(801);

    replica.cover(801);
    assertThat(replica.continuesWith(first)).isTrue();
    assertThat(replica.missingIndex()).isZero();
  }
}
