package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogGrant;
import org.junit.jupiter.api.Test;

class FollowerStreamTest {
  @Test
  void shouldNeedNoWriteWhenTheLogIsAnEmptySegmentAfterACheckpoint() {
    LogZone zone = new LogFixture(2, 4096).zone();
    SegmentHeader header =
        new SegmentHeader(
            SegmentState.OPEN, LogFixture.IDENTITY.logId(), 1, 3, 17, 2, 0x1234, 0, 0, 8, 1);
    Chain chain = new Chain();
    chain.add(Segment.open(zone, 0, header, new Crc32cScratch()));

    FollowerStream stream =
        new FollowerStream(2, chain, null, null, LogGrant.getDefaultInstance(), 3);

    assertThat(stream.writtenIndex())
        .as("all that the leader has below its first segment is in a checkpoint")
        .isEqualTo(chain.lastIndex());
  }
}
