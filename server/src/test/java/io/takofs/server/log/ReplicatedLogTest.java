package io.takofs.server.log;

import static io.takofs.server.log.ReplicaStorage.SEGMENTS_MAX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.AdoptLog;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogSegment;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.Segment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /** Bits of lengths, of the index, of the payload and of the trailer change. */
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 3, 9, 24, 32, 1000, 1056, 1060})
  void shouldNotDeliverWhatHasChangedSinceItWasAppended(int offset) throws Exception {
    LogFixture fixture = new LogFixture(12, 8 * ENTRY_BYTES);
    LogReplica replica = replica(fixture);
    ReplicatedLog log = leader(replica, new ReplicatedLog(replica, 0), Set.of(1));
    log.poll((index, term, payload) -> {});
    byte[] entry = new byte[ENTRY_BYTES];
    long first = log.propose(ByteBuffer.wrap(entry));
    log.propose(ByteBuffer.wrap(entry));
    fixture.flipBit(0, Layout.SEGMENT_DATA_OFFSET + FrameCodec.frameSize(1) + offset, 5);

    List<Long> delivered = new ArrayList<>();
    log.poll((index, term, payload) -> delivered.add(index));

    assertThat(delivered).isEmpty();
    assertThat(replica.damage().status()).isEqualTo(Status.CORRUPT);
    assertThat(replica.damage()).hasMessageContaining("entry " + first);
  }

  /** It is connected, but takes a state over, or its process stands still: it gives no slots. */
  @ParameterizedTest
  @ValueSource(ints = {8, 9, 12, 13, 100})
  void shouldGoOnAlthoughAConnectedMemberHasNoSlots(int slots) throws Exception {
    LogReplica replica = replica(new LogFixture(slots, 4 * ENTRY_BYTES));
    ReplicatedLog log = leader(replica, new ReplicatedLog(replica, 0), Set.of(1));
    FollowerStream stream = streamFrom(replica.chain().tail(), replica);
    stream.setAdopted();
    log.attach(stream);
    List<Long> delivered = new ArrayList<>();

    for (int i = 0; i < 5 * slots; i++) {
      log.propose(ByteBuffer.allocate(ENTRY_BYTES));
      log.poll((index, term, payload) -> delivered.add(index));
      if (log.wantsTrim()) {
        log.trim(log.commitIndex());
      }
    }

    assertThat(delivered).hasSize(5 * slots + 1);
    assertThat(stream.hasFailed()).as("it comes back by a new grant").isTrue();
  }

  /** A message that says what a member has, or is to have, names all segments. */
  @Test
  void shouldKeepNoMoreSegmentsThanACallCanName() throws Exception {
    LogReplica replica = replica(new LogFixture(8 * SEGMENTS_MAX, 4 * ENTRY_BYTES));
    ReplicatedLog log = leader(replica, new ReplicatedLog(replica, 0), Set.of(1));
    FollowerStream stream = streamFrom(replica.chain().tail(), replica);
    stream.setAdopted();
    log.attach(stream);
    int most = 0;
    while (!stream.hasFailed()) {
      log.propose(ByteBuffer.allocate(ENTRY_BYTES));
      log.poll((index, term, payload) -> {});
      most = Math.max(most, log.segmentCount());
      if (log.wantsTrim()) {
        log.trim(log.commitIndex());
      }
    }
    assertThat(most).isBetween(SEGMENTS_MAX, 2 * SEGMENTS_MAX + 1);
    LogSegment widest =
        LogSegment.newBuilder()
            .setSequence(Long.MAX_VALUE)
            .setTerm(Long.MAX_VALUE)
            .setBaseIndex(Long.MAX_VALUE)
            .setBaseChain(-1)
            .setLastIndex(Long.MAX_VALUE)
            .setChain(-1)
            .setLength(Layout.SEGMENT_SIZE)
            .build();
    AdoptLog all = AdoptLog.newBuilder().addAllSegments(Collections.nCopies(most, widest)).build();
    assertThat(all.getSerializedSize()).isLessThan(Layout.RPC_REQUEST_SLOT_SIZE);
  }

  /** It would be no copy of what came before its log. */
  @Test
  void shouldNotCountAMemberThatHasTheLogAndNoState() throws Exception {
    LogReplica replica = replica(new LogFixture(8, 4 * ENTRY_BYTES));
    ReplicatedLog log = leader(replica, new ReplicatedLog(replica, 0), Set.of(1, 2));
    log.propose(ByteBuffer.allocate(ENTRY_BYTES));
    FollowerStream stream = streamFrom(replica.chain().tail(), replica);
    log.attach(stream);
    stream.setAdopted();
    assertThat(log.isAdopted()).isFalse();
    stream.setStateful();
    assertThat(log.isAdopted()).isTrue();
  }

  @Test
  void shouldKnowWhatIsCommittedInALogThatItHasJustRead() throws Exception {
    LogReplica replica = replica(new LogFixture(8, 4 * ENTRY_BYTES));
    replica.prepare(PrepareLog.newBuilder().setTerm(1).setCandidate(1).build());
    replica.lead(1);
    for (int i = 0; i < 3; i++) {
      replica.append(1, FrameCodec.ENTRY, 0, ByteBuffer.allocate(ENTRY_BYTES));
    }
    replica.learnCommitted(2);
    ReplicatedLog log = new ReplicatedLog(replica, 0);
    log.setMembers(Set.of(1, 2, 3));
    replica.prepare(PrepareLog.newBuilder().setTerm(2).setCandidate(1).build());

    log.open(2);

    assertThat(log.commitIndex()).isEqualTo(2);
  }

  /** It can commit nothing before that member has a state, which has to have these entries. */
  @Test
  void shouldLearnFromAMemberWhatIsCommitted() throws Exception {
    LogReplica replica = replica(new LogFixture(8, 4 * ENTRY_BYTES));
    ReplicatedLog log = leader(replica, new ReplicatedLog(replica, 0), Set.of(1, 2, 3));
    log.propose(ByteBuffer.allocate(ENTRY_BYTES));
    replica.prepare(PrepareLog.newBuilder().setTerm(2).setCandidate(1).build());
    log.follow();
    log.open(2);
    log.learn(2);
    assertThat(log.commitIndex()).isEqualTo(2);
    log.begin();
    log.learn(3);
    assertThat(log.commitIndex()).as("nobody but this leader counts in its term").isEqualTo(2);
  }

  @Test
  void shouldGiveUpNoMemberThatNeedsOnlySegmentsThatStay() throws Exception {
    LogReplica replica = replica(new LogFixture(8, 4 * ENTRY_BYTES));
    ReplicatedLog log = fullLeader(replica);
    FollowerStream stream = streamFrom(replica.chain().tail(), replica);
    log.attach(stream);

    log.trim(log.commitIndex());

    assertThat(log.segmentCount()).isEqualTo(1);
    assertThat(stream.hasFailed()).isFalse();
  }

  /** A member that is started again goes on with its log, and needs no checkpoint of another. */
  @Test
  void shouldKeepWhatAMemberMayNeedThatIsAway() throws Exception {
    LogReplica replica = replica(new LogFixture(20, 4 * ENTRY_BYTES));
    ReplicatedLog log = leader(replica, new ReplicatedLog(replica, 0), Set.of(1));
    fill(log, replica::isShort);
    int segments = log.segmentCount();
    log.setMembers(Set.of(1, 2));
    log.attach(followerAt(replica.chain().tail(), replica));
    assertThat(log.wantsTrim()).isTrue();

    log.setMembers(Set.of(1, 2, 3));
    assertThat(log.wantsTrim()).as("it would give up nothing").isFalse();
    log.trim(log.commitIndex());
    assertThat(log.segmentCount()).isEqualTo(segments);

    log.setMembers(Set.of(1, 2));
    log.trim(log.commitIndex());
    assertThat(log.segmentCount()).isEqualTo(1);
  }

  @Test
  void shouldWaitForNoMemberThatIsAwayWhenSegmentsAreScarce() throws Exception {
    LogReplica replica = replica(new LogFixture(20, 4 * ENTRY_BYTES));
    ReplicatedLog log = fullLeader(replica);
    log.setMembers(Set.of(1, 2, 3));
    log.attach(followerAt(replica.chain().tail(), replica));

    assertThat(log.wantsTrim()).isTrue();
    log.trim(log.commitIndex());

    assertThat(log.segmentCount()).isEqualTo(1);
  }

  @Test
  void shouldKeepWhatAMemberNeedsWithoutWhichThereIsNoMajority() throws Exception {
    LogReplica replica = replica(new LogFixture(8, 4 * ENTRY_BYTES));
    ReplicatedLog log = fullLeader(replica);
    int segments = log.segmentCount();
    FollowerStream stream = streamFrom(replica.chain().segments().get(0), replica);
    log.attach(stream);
    log.setMembers(Set.of(1, 2, 3));

    log.trim(log.commitIndex());
    log.advance();
    assertThat(stream.hasFailed()).isFalse();
    assertThat(log.segmentCount()).isEqualTo(segments);

    log.setMembers(Set.of(1)); // which goes on alone
    log.advance();
    assertThat(stream.hasFailed()).isTrue();
    assertThat(log.segmentCount()).isEqualTo(1);
  }

  /** A leader alone that has applied all that it has, and can open no other segment. */
  private static ReplicatedLog fullLeader(LogReplica replica) throws TakoException {
    ReplicatedLog log = leader(replica, new ReplicatedLog(replica, 0), Set.of(1));
    fill(log, replica::isScarce);
    return log;
  }

  private static void fill(ReplicatedLog log, BooleanSupplier full) throws TakoException {
    while (!full.getAsBoolean()) {
      log.propose(ByteBuffer.allocate(ENTRY_BYTES));
      log.poll((index, term, payload) -> {});
    }
  }

  /** Member 2, which has a state, and all before {@code tail}. */
  private static FollowerStream followerAt(Segment tail, LogReplica replica) {
    FollowerStream stream = streamFrom(tail, replica);
    stream.setAdopted();
    stream.setStateful();
    return stream;
  }

  /** Writes to member 2, which gives no slots, all from {@code first} on. */
  private static FollowerStream streamFrom(Segment first, LogReplica replica) {
    return new FollowerStream(
        2,
        replica.chain(),
        (segment, offset, index) -> true,
        null,
        FollowerStreamTest.pair(),
        LogGrant.getDefaultInstance(),
        first.header().segmentSequence());
  }

  private static ReplicatedLog leaderThatReachesNobody(int slots) throws TakoException {
    LogReplica replica = replica(new LogFixture(slots, 4 * ENTRY_BYTES));
    return leader(replica, new ReplicatedLog(replica, 0), Set.of(1, 2, 3));
  }

  private static LogReplica replica(LogFixture fixture) throws TakoException {
    return LogReplica.open(
        1, fixture.zone(), new LogTransports(), LogFixture.IDENTITY, 0, () -> true);
  }

  private static ReplicatedLog leader(LogReplica replica, ReplicatedLog log, Set<Integer> members)
      throws TakoException {
    replica.prepare(PrepareLog.newBuilder().setTerm(1).setCandidate(1).build());
    log.setMembers(members);
    log.open(1);
    log.begin();
    log.lead(1);
    return log;
  }
}
