package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner;
import io.takofs.server.segment.SegmentState;
import org.junit.jupiter.api.Test;

class ReplicaRecoveryTest {
  private static final Crc32cScratch CRC = new Crc32cScratch();
  private static final int LOG_ID = LogFixture.IDENTITY.logId();

  @Test
  void shouldBeTriedAgainWhenStoresMayComeAndNothingIsFreeForACopy() throws Exception {
    LogZone zone = new LogFixture(2, 4096).zone();
    Promise.NONE.promised(1, 2, 0).granted().adopted(1, true, 0).write(zone, LOG_ID, CRC);
    SegmentHeader first = new SegmentHeader(SegmentState.OPEN, LOG_ID, 1, 1, 1, 1, 0, 0, 0, 1, 1);
    Segment.open(zone, 0, first, CRC);
    SegmentHeader.read(zone.slot(1), CRC).granted(LOG_ID, 1, 1, 2, 1).write(zone, 1, CRC);

    assertThatThrownBy(() -> recover(zone, false))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.BUSY))
        .hasMessageContaining("again later");

    assertThat(recover(zone, true).chain().nextSequence()).isEqualTo(2);
  }

  private static ReplicaRecovery recover(LogZone zone, boolean writersAreGone)
      throws TakoException {
    SegmentScanner scanner = new SegmentScanner(CRC, new FrameCodec());
    return ReplicaRecovery.run(zone, LogFixture.IDENTITY, CRC, scanner, () -> writersAreGone);
  }
}
