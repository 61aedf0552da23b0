package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogSegment;
import org.junit.jupiter.api.Test;

class LogReplicaTest {
  @Test
  void shouldNeedACheckpointWhenTheBestLogBeginsLater() throws Exception {
    LogReplica replica =
        LogReplica.open(
            1,
            new LogFixture(4, 4096).zone(),
            new LogTransports(),
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
