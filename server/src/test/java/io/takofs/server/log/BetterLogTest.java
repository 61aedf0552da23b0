package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.LogPosition;
import io.takofs.proto.LogSegment;
import io.takofs.proto.PrepareLog;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.FrameCodec;
import io.takofs.transport.QueuePair;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class BetterLogTest {
  private static final int ENTRIES = 100;
  private static final int PAYLOAD = 100;

  private static final LogTransport NOWHERE = new LogTransport("none", null, null, null);

  private final LogReplica replica;
  private final List<LogSegment> all;

  BetterLogTest() throws Exception {
    replica = open(0);
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

  /** Nothing that the other member has is known to be committed. */
  @Test
  void shouldMakeRoomByACheckpointOfItsOwnWhereItHasNoSlots() {
    LogSegment last = all.get(all.size() - 1);
    LogPosition.Builder position = LogPosition.newBuilder();
    for (int i = 1; i <= 8; i++) {
      position.addSegments(
          LogSegment.newBuilder()
              .setSequence(last.getSequence() + i)
              .setBaseIndex(last.getLastIndex() + i)
              .setBaseChain(last.getChain())
              .setLastIndex(last.getLastIndex() + i));
    }
    replica.learnCommitted(all.get(0).getLastIndex());

    assertThat(begins(replica, position.build())).isFalse();

    assertThat(replica.wantedIndex()).isEqualTo(all.get(0).getLastIndex());
    assertThat(replica.needsCheckpoint()).isFalse();
  }

  @Test
  void shouldReadNothingThatItsCheckpointHas() throws Exception {
    LogReplica other = open(all.get(1).getLastIndex());
    int free = other.freeSlots();
    assertThat(begins(other, replica.position(null))).isTrue();
    assertThat(free - other.freeSlots()).isEqualTo(all.size() - 2);
  }

  private static LogReplica open(long checkpointIndex) throws TakoException {
    return LogReplica.open(
        1,
        new LogFixture(8, 4096).zone(),
        new LogTransports(),
        LogFixture.IDENTITY,
        checkpointIndex,
        () -> true);
  }

  /** Whether {@code candidate} can begin to read what another member has. */
  private static boolean begins(LogReplica candidate, LogPosition position) {
    AtomicBoolean failed = new AtomicBoolean();
    LogPeers peers =
        new SilentPeers() {
          @Override
          public void connect(
              int server, LogTransport via, long term, long grant, Consumer<QueuePair> answer) {
            answer.accept(FollowerStreamTest.pair());
          }
        };
    new BetterLog(candidate, peers).begin(2, NOWHERE, position, 2, () -> failed.set(true));
    return !failed.get();
  }
}
