package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.GrantLog;
import io.takofs.proto.LogSegment;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.FramesBeyond;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentScanner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class LogReplicaTest {
  private static final String DAMAGE = "as the test says";
  private static final int COUNT = 100;
  private static final int PAYLOAD = 40;
  private static final SegmentScanner SCANNER =
      new SegmentScanner(new Crc32cScratch(), new FrameCodec());

  @Test
  void shouldNeedACheckpointWhenTheBestLogBeginsLater() throws Exception {
    LogReplica replica = open(new LogFixture(4, 4096), 23);
    LogSegment first = LogSegment.newBuilder().setSequence(133).setBaseIndex(802).build();

    assertThat(replica.continuesWith(first)).isFalse();
    assertThat(replica.neededIndex()).isEqualTo(801);
    assertThat(replica.needsCheckpoint()).isTrue();

    replica.cover(801);
    assertThat(replica.continuesWith(first)).isTrue();
    assertThat(replica.needsCheckpoint()).isFalse();
  }

  /** It lost an election to a log that began later, and won the next one with its own. */
  @Test
  void shouldNeedNoCheckpointOfOthersWhenItLeads() throws Exception {
    LogReplica replica = open(new LogFixture(4, 4096));
    replica.continuesWith(LogSegment.newBuilder().setSequence(133).setBaseIndex(802).build());
    assertThat(replica.needsCheckpoint()).isTrue();
    lead(replica);
    assertThat(replica.needsCheckpoint()).isFalse();
  }

  /** The member keeps its copy, which may be the only one but for a leader's. */
  @Test
  void shouldGoOnWithACheckpointOfItsOwnWhenItHasWhatTheBestLogHasNotAnyMore() throws Exception {
    LogReplica replica = open(written(16));
    long index = COUNT / 2;
    LogSegment first =
        LogSegment.newBuilder()
            .setSequence(133)
            .setBaseIndex(index + 1)
            .setBaseChain(replica.chain().chainAfter(index))
            .build();
    ReplicatedLog log = new ReplicatedLog(replica, 0);

    assertThat(replica.continuesWith(first)).isFalse();

    assertThat(replica.needsCheckpoint()).isFalse();
    assertThat(log.wantsTrim()).as("what is to be in it has not been applied").isFalse();
    assertThat(log.poll((at, term, payload) -> {})).isGreaterThanOrEqualTo((int) index);
    assertThat(log.wantsTrim()).isTrue();
    replica.cover(index);
    assertThat(log.wantsTrim()).isFalse();
    assertThat(replica.continuesWith(first)).isTrue();
  }

  @Test
  void shouldNeedACheckpointWhenTheBestLogHadAnotherEntryInThePlaceOfOneHere() throws Exception {
    LogReplica replica = open(written());
    int other = replica.chain().chainAfter(COUNT / 2) + 1;
    LogSegment first =
        LogSegment.newBuilder()
            .setSequence(133)
            .setBaseIndex(COUNT / 2 + 1)
            .setBaseChain(other)
            .build();
    assertThat(replica.continuesWith(first)).isFalse();
    assertThat(replica.needsCheckpoint()).isTrue();
  }

  /** A term in which nobody appended anything leaves a segment without a frame. */
  @Test
  void shouldSayWhichEntryIsBeforeASegmentWhateverSegmentsAreBetween() throws Exception {
    LogReplica replica = open(written());
    int chain = replica.chain().tail().chain();
    replica.cover(COUNT);
    for (long term = 6; term < 8; term++) {
      replica.prepare(prepare(term, 4).toBuilder().setCandidate(1).build());
      replica.lead(term);
      replica.trim(COUNT);
      assertThat(replica.chain().segments()).hasSize(1);
      assertThat(replica.chain().tail().header().baseChain()).isEqualTo(chain);
    }
  }

  /** A leader that knows more has said that it lacks entries, and is gone. */
  @Test
  void shouldBelieveTheLastLeaderThatItLacksNothing() throws Exception {
    LogReplica replica = open(written());
    replica.lack(COUNT + 1, 1);
    assertThat(replica.needsCheckpoint()).isTrue();
    replica.lack(COUNT, replica.chain().chainAfter(COUNT));
    assertThat(replica.needsCheckpoint()).isFalse();
    assertThat(replica.neededIndex()).isLessThanOrEqualTo(COUNT);
    assertThat(replica.wantedIndex()).isEqualTo(COUNT);
  }

  @Test
  void shouldMakeRoomByACheckpointOfItsOwnWhereItCan() throws Exception {
    LogReplica replica = open(written());
    long end = replica.chain().segments().get(0).lastIndex();
    replica.learnCommitted(end);

    TakoException noRoom = replica.lackRoom(2, COUNT + 1, 1);

    assertThat(noRoom.status()).isEqualTo(Status.NO_SPACE);
    assertThat(replica.wantedIndex()).isEqualTo(end);
    assertThat(replica.needsCheckpoint()).isFalse();
  }

  @Test
  void shouldNeedACheckpointOnlyWhereItsOwnLogTakesTheRoom() throws Exception {
    LogReplica replica = open(written());
    replica.cover(COUNT - 1);
    int free = 4 - replica.chain().segments().size();

    assertThat(replica.lackRoom(free - 1, COUNT + 1, 1).status()).isEqualTo(Status.NO_SPACE);
    assertThat(replica.needsCheckpoint()).as("others hold slots for a while").isFalse();
    assertThat(replica.lackRoom(free, COUNT + 1, 1).status()).isEqualTo(Status.BUSY);
    assertThat(replica.neededIndex()).isEqualTo(COUNT + 1);
  }

  /** Chain values of ends do not come from frames, whose bits may have changed. */
  @Test
  void shouldNameEndsOfSegmentsThatOthersFollow() throws Exception {
    LogReplica replica = open(new LogFixture(32, 1024));
    lead(replica);
    List<Segment> segments = replica.chain().segments();
    assertThat(segments).hasSizeGreaterThan(2);
    long end = segments.get(0).lastIndex();
    int chain = segments.get(0).chain();
    assertThat(replica.chain().lastEnd(end)).isEqualTo(new Chain.End(end, chain));
    assertThat(replica.chain().lastEnd(end + 1)).isEqualTo(new Chain.End(end, chain));
    assertThat(replica.chain().lastEnd(end - 1)).isEqualTo(new Chain.End(0, 0));
    assertThat(replica.chain().lastEnd(Long.MAX_VALUE).index())
        .isEqualTo(segments.get(segments.size() - 2).lastIndex());
  }

  @Test
  void shouldReadABetterLogIntoAllSlotsButOne() throws Exception {
    LogReplica replica = open(new LogFixture(8, 4096));
    for (int i = 0; i < 7; i++) {
      assertThat(replica.takeSlot()).isNotNull();
    }
    assertThat(replica.takeSlot()).as("it needs one to lead").isNull();
  }

  private static LogReplica open(LogFixture fixture) throws TakoException {
    return open(fixture, 0);
  }

  private static LogReplica open(LogFixture fixture, long checkpointIndex) throws TakoException {
    return LogReplica.open(
        1, fixture.zone(), new LogTransports(), LogFixture.IDENTITY, checkpointIndex, () -> true);
  }

  private static LogReplica openDamaged(LogFixture fixture, BooleanSupplier writersAreGone) {
    return LogReplica.openDamaged(
        fixture.zone(),
        new LogTransports(),
        LogFixture.IDENTITY,
        writersAreGone,
        new TakoException(Status.CORRUPT, DAMAGE));
  }

  private static PrepareLog prepare(long term, long epoch) {
    return PrepareLog.newBuilder().setTerm(term).setCandidate(2).setEpoch(epoch).build();
  }

  /** Entries of a term that this member led in alone, and a promise that came after. */
  private static LogFixture written() throws TakoException {
    return written(4);
  }

  private static LogFixture written(int slots) throws TakoException {
    LogFixture fixture = new LogFixture(slots, 4096);
    LogReplica replica = open(fixture);
    lead(replica);
    replica.prepare(prepare(5, 4));
    assertThat(replica.lastIndex()).isEqualTo(COUNT);
    return fixture;
  }

  private static void lead(LogReplica replica) throws TakoException {
    replica.prepare(prepare(3, 4).toBuilder().setCandidate(1).build());
    replica.lead(3);
    for (int i = 0; i < COUNT; i++) {
      replica.append(3, FrameCodec.ENTRY, i, ByteBuffer.allocate(PAYLOAD));
    }
  }

  @Test
  void shouldPromiseNothingAndLetNobodyInWhileItIsDamaged() throws Exception {
    LogReplica replica = openDamaged(written(), () -> true);
    assertThatThrownBy(() -> replica.prepare(prepare(9, 9))).hasMessage(DAMAGE);
    assertThatThrownBy(() -> replica.grant(GrantLog.newBuilder().setTerm(9).build()))
        .hasMessage(DAMAGE);
    assertThat(replica.admits(0, 0)).isFalse();
    assertThat(replica.lastIndex()).isZero();
  }

  /** Members that only a later configuration has may have what was committed since. */
  @Test
  void shouldRefuseAConfigurationOfACopyThatIsOlderThanTheOneItActedOn() throws Exception {
    LogFixture fixture = written(); // in configuration 4
    LogReplica replica = open(fixture);
    PrepareLog ofOldCopy = prepare(9, 1000).toBuilder().addCopiedEpochs(3).build();
    assertThatThrownBy(() -> replica.prepare(ofOldCopy))
        .hasFieldOrPropertyWithValue("status", Status.STALE_VERSION)
        .hasMessageContaining("has acted on configuration 4")
        .hasMessageContaining("a copy with configuration 3");
    assertThat(open(fixture).promisedTerm()).as("kept promise").isEqualTo(5);
    replica.prepare(prepare(9, 1000).toBuilder().addCopiedEpochs(4).build());
    assertThat(replica.epoch()).isEqualTo(1000);
    // The catalog was lost again, before a leader had been elected.
    PrepareLog ofSecondCopy =
        prepare(10, 2000).toBuilder().addCopiedEpochs(4).addCopiedEpochs(1000).build();
    replica.prepare(ofSecondCopy);
    assertThat(replica.epoch()).isEqualTo(2000);
  }

  @Test
  void shouldBeginAnewAsOneThatHasActedOnTheConfigurationWithoutIt() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = openDamaged(fixture, () -> true);
    assertThat(replica.renew(7, () -> {})).isTrue();
    assertThat(replica.damage()).isNull();
    assertThat(replica.freeSlots()).isEqualTo(fixture.slotCount());
    for (LogReplica each : List.of(replica, open(fixture))) {
      assertThat(each.lastIndex()).isZero();
      assertThat(each.epoch()).isEqualTo(7);
      assertThatThrownBy(() -> each.prepare(prepare(9, 6)))
          .hasFieldOrPropertyWithValue("status", Status.STALE_VERSION);
    }
    assertThat(replica.prepare(prepare(2, 7)).getLastIndex()).isZero();
  }

  @Test
  void shouldBeDamagedStillWhenItDiesWhileItBeginsAnew() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = openDamaged(fixture, () -> true);
    List<byte[][]> moments = new ArrayList<>();
    replica.renew(7, () -> moments.add(fixture.snapshot()));
    fixture.restore(moments.get(0));
    assertThatThrownBy(() -> open(fixture)).hasFieldOrPropertyWithValue("status", Status.CORRUPT);
  }

  @Test
  void shouldNotBeginAnewWhileAFormerLeaderMayStore() throws Exception {
    LogFixture fixture = written();
    byte[][] before = fixture.snapshot();
    AtomicBoolean gone = new AtomicBoolean();
    LogReplica replica = openDamaged(fixture, gone::get);
    assertThat(replica.renew(7, () -> {})).isFalse();
    assertThat(Arrays.deepEquals(fixture.snapshot(), before)).isTrue();
    assertThat(replica.damage()).hasMessage(DAMAGE);
    gone.set(true);
    assertThat(replica.renew(7, () -> {})).isTrue();
  }

  @Test
  void shouldFindBitsThatHaveChangedSinceTheyWereLookedAt() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = open(fixture);
    verify(replica);
    assertThat(replica.damage()).isNull();

    Segment tail = replica.chain().tail();
    int last = tail.length() - 1;
    ByteBuffer memory = fixture.slot(tail.slot());
    memory.put(last, (byte) (memory.get(last) ^ 1));
    verify(replica);
    assertThat(replica.damage()).hasMessageContaining("is damaged");
  }

  /** Whatever byte of a frame is damaged, those that come after it say that it was committed. */
  @Test
  void shouldKnowWhatIsCommittedThoughItIsDamaged() throws Exception {
    LogFixture fixture = new LogFixture(4, 4096);
    LogReplica killed = open(fixture);
    lead(killed);
    byte[][] whole = fixture.snapshot();
    Segment tail = killed.chain().tail();
    int at = Layout.SEGMENT_DATA_OFFSET;
    for (long index = tail.header().baseIndex(); index < tail.lastIndex(); index++) {
      for (int offset = at; offset < tail.next(at); offset++) {
        fixture.restore(whole);
        fixture.flipBit(tail.slot(), offset, offset % Byte.SIZE);
        LogReplica replica = open(fixture);
        String what = "byte %d of entry %d".formatted(offset - at, index);
        assertThat(replica.lastIndex()).as(what).isEqualTo(index - 1);
        assertThat(known(replica)).as(what).isEqualTo(COUNT - 1);
        assertThat(replica.commitIndex()).as(what).isLessThan(index);
        assertThat(known(open(fixture))).as(what + ", kept").isEqualTo(COUNT - 1);
      }
      at = tail.next(at);
    }
    fixture.restore(whole);
    fixture.flipBit(tail.slot(), at, 0); // the last one: nobody has named it
    assertThat(open(fixture).lastIndex()).isEqualTo(COUNT - 1);
  }

  private static long known(LogReplica replica) {
    return replica.position(null).getCommitIndex();
  }

  /** The next segment goes on where the frame ends. */
  @Test
  void shouldKnowWhatIsCommittedThoughTheEndOfASegmentIsDamaged() throws Exception {
    LogFixture fixture = new LogFixture(4, 4096);
    LogReplica killed = open(fixture);
    lead(killed);
    List<Segment> segments = killed.chain().segments();
    assertThat(segments).hasSize(2);
    Segment full = segments.get(0);
    byte[][] whole = fixture.snapshot();
    int last = full.length() - FrameCodec.frameSize(PAYLOAD);
    for (int offset = last; offset < full.length(); offset++) {
      fixture.restore(whole);
      fixture.flipBit(full.slot(), offset, offset % Byte.SIZE);
      Segment scanned = scanned(fixture, full);
      assertThat(scanned.lastIndex()).isEqualTo(full.lastIndex() - 1);
      assertThat(beyond(fixture, scanned, segments.get(1).slot()))
          .as("byte %d", offset - last)
          .isEqualTo(COUNT - 1);
    }
    fixture.restore(whole);
    fixture.flipBit(segments.get(1).slot(), Layout.SEGMENT_DATA_OFFSET + 40, 1);
    assertThat(beyond(fixture, scanned(fixture, full), segments.get(1).slot()))
        .as("the first frame of the next one")
        .isEqualTo(COUNT - 1);
  }

  private static Segment scanned(LogFixture fixture, Segment as) {
    Segment scanned = Segment.arriving(fixture.zone(), as.slot(), as.header(), 0, SCANNER);
    scanned.extend(SCANNER);
    return scanned;
  }

  private static long beyond(LogFixture fixture, Segment tail, int next) {
    return new FramesBeyond(fixture.zone(), SCANNER).committed(tail, List.of(next), 3);
  }

  /** Clients choose payloads: frames in them say nothing, whatever is torn or damaged. */
  @Test
  void shouldNotBelieveFramesInPayloads() throws Exception {
    LogFixture fixture = new LogFixture(4, 8192);
    LogReplica killed = open(fixture);
    killed.prepare(prepare(3, 4).toBuilder().setCandidate(1).build());
    killed.lead(3);
    killed.append(3, FrameCodec.ENTRY, 0, ByteBuffer.allocate(PAYLOAD));
    killed.append(3, FrameCodec.ENTRY, 1, forgedFrames());
    byte[][] whole = fixture.snapshot();
    Segment tail = killed.chain().tail();
    ByteBuffer memory = fixture.slot(tail.slot());
    int at = tail.next(Layout.SEGMENT_DATA_OFFSET);
    for (int offset = at; offset < tail.length(); offset++) {
      fixture.restore(whole);
      fixture.flipBit(tail.slot(), offset, offset % Byte.SIZE);
      assertThat(known(open(fixture))).as("byte %d", offset - at).isLessThan(2);
      fixture.restore(whole);
      zero(memory, offset, tail.length());
      assertThat(known(open(fixture))).as("torn at %d", offset - at).isLessThan(2);
      fixture.restore(whole);
      zero(memory, Math.max(at + Integer.BYTES, offset - 40), offset);
      assertThat(known(open(fixture))).as("a hole before %d", offset - at).isLessThan(2);
    }
  }

  private static void zero(ByteBuffer memory, int from, int to) {
    for (int i = from; i < to; i++) {
      memory.put(i, (byte) 0);
    }
  }

  /**
   * Frames as a client could make them that knows how long the log is, after trailers that would be
   * right if the checksum of the header before were zero.
   */
  private static ByteBuffer forgedFrames() {
    ByteBuffer payload = ByteBuffer.allocate(2048).order(ByteOrder.LITTLE_ENDIAN);
    Crc32cScratch crc = new Crc32cScratch();
    FrameCodec codec = new FrameCodec();
    int payloadCrc = 1234;
    int chain = Crc32cScratch.neverZero(crc.ofInts(0, payloadCrc));
    int at = 512;
    for (int i = 0; i < at; i += Layout.FRAME_TRAILER_SIZE) {
      payload.putInt(i + Layout.FRAME_TRAILER_PAYLOAD_CRC_OFFSET, payloadCrc);
      payload.putInt(i + Layout.FRAME_TRAILER_CHAIN_OFFSET, chain);
    }
    ByteBuffer view = payload.duplicate();
    for (long index = 3; at < 1500; index++) {
      ByteBuffer value = ByteBuffer.allocate(PAYLOAD);
      chain =
          codec.write(
              payload, view, at, chain, (short) 3, index, index - 1, 3, FrameCodec.ENTRY, value);
      at += FrameCodec.frameSize(PAYLOAD);
    }
    return payload;
  }

  @Test
  void shouldKnowWhatIsInItsCheckpointToBeCommitted() throws Exception {
    LogReplica replica = open(new LogFixture(4, 4096), 23);
    assertThat(known(replica)).isEqualTo(23);
    replica.cover(42);
    assertThat(known(replica)).isEqualTo(42);
  }

  private static void verify(LogReplica replica) {
    long next = 0;
    do {
      next = replica.verify(next);
    } while (next != 0);
  }

  @Test
  void shouldBeginAnewAfterItLed() throws Exception {
    LogFixture fixture = written();
    LogReplica replica = open(fixture);
    replica.prepare(prepare(6, 4).toBuilder().setCandidate(1).build());
    replica.lead(6);
    Segment first = replica.chain().segments().get(0);
    ByteBuffer memory = fixture.slot(first.slot());
    memory.put(first.length() - 1, (byte) (memory.get(first.length() - 1) ^ 1));
    verify(replica);
    assertThat(replica.damage()).isNotNull();
    assertThat(replica.isLeading(6)).isFalse();
    assertThat(replica.renew(7, () -> {})).isTrue();
    assertThat(replica.damage()).isNull();
  }
}
