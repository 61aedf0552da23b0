package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.LogSegment;
import io.takofs.proto.PrepareLog;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.FrameCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BetterLogTest {
  private static final int ENTRIES = 100;
  private static final int PAYLOAD = 100;

  private final LogReplica replica;
  private final List<LogSegment> all;

  BetterLogTest() throws Exception {
    replica =
        LogReplica.open(
            1,
            new LogFixture(8, 4096).zone(),
            new LogTransports(),
            LogFixture.IDENTITY,
            0,
            () -> true);
    replica.prepare(PrepareLog.newBuilder().setTerm(1).setCandidate(1).build());
    replica.lead(1);
    for (int i = 0; i < ENTRIES; i++) {
      replica.append(1, FrameCodec.ENTRY, i, ByteBuffer.allocate(PAYLOAD));
    }
    replica.prepare(PrepareLog.newBuilder().setTerm(2).setCandidate(2).build());
    all = replica.position(null).getSegmentsList();
    assertThat(all).hasSizeGreaterThan(3);
  }

  @Test
  void shouldReadEverythingIntoAnEmptyLog() {
    assertThat(BetterLog.missing(new Chain(), all)).isEqualTo(all);
  }

  @Test
  void shouldReadNothingThatBothHave() {
    assertThat(BetterLog.missing(replica.chain(), all)).isEmpty();
  }

  @Test
  void shouldReadWhatDiffersAndWhatFollowsIt() {
    LogSegment other = all.get(2).toBuilder().setTerm(9).build();
    List<LogSegment> theirs = List.of(all.get(0), all.get(1), other);
    assertThat(BetterLog.missing(replica.chain(), theirs)).containsExactly(other);
  }

  /** This member's checkpoint has the entries of the first segments, which it has given up. */
  @Test
  void shouldNotReadWhatComesBeforeASegmentThatBothHave() {
    replica.cover(all.get(1).getLastIndex());
    assertThat(replica.trim(all.get(1).getLastIndex())).isEqualTo(2);
    LogSegment last = all.get(all.size() - 1);
    LogSegment next = LogSegment.newBuilder().setSequence(last.getSequence() + 1).build();
    List<LogSegment> theirs = new ArrayList<>(all);
    theirs.add(next);
    assertThat(BetterLog.missing(replica.chain(), theirs)).containsExactly(next);
  }
}
