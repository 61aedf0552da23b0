package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner;
import io.takofs.server.segment.SegmentScanner.End;
import io.takofs.server.segment.SegmentState;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogRecoveryTest {
  private final Random random = new Random(3);
  private final Crc32cScratch crc = new Crc32cScratch();

  @Test
  void shouldGiveTheSameEachTimeItIsOpened() throws Exception {
    LogFixture fixture = new LogFixture(6, 1024);
    SegmentedLog log = fixture.open(0);
    fill(log, 20);

    fixture.open(0);
    byte[][] once = fixture.snapshot();
    fixture.open(0);

    assertThat(fixture.snapshot()).isEqualTo(once);
    assertThat(fixture.recover(0)).hasSize(20);
  }

  @Test
  void shouldNotUseASegmentForARestartThatWroteNothing() throws Exception {
    LogFixture fixture = new LogFixture(3, 1024);
    fill(fixture.open(0), 1);
    for (int i = 0; i < 20; i++) {
      SegmentedLog log = fixture.open(0);
      assertThat(log.segmentCount()).isEqualTo(1);
      assertThat(log.freeSegmentCount()).isEqualTo(2);
    }
  }

  /** Frames are bound to their segment: in any other, not one of them is valid. */
  @Test
  void shouldNotValidateFramesOfAnotherUseOfTheMemory() throws Exception {
    LogFixture fixture = new LogFixture(2, 1024);
    fill(fixture.open(0), 5);
    ByteBuffer memory = fixture.zone().slot(0);
    assertThat(scan(memory, header(7, 1, 1, 1, 0)).lastIndex()).isEqualTo(5);

    for (SegmentHeader other :
        List.of(
            header(8, 1, 1, 1, 0),
            header(7, 2, 1, 1, 0),
            header(7, 1, 1 + (1 << 16), 1, 0),
            header(7, 1, 1, 1, 5))) {
      SegmentScanner.Result result = scan(memory, other);
      assertThat(result.end()).isEqualTo(End.TORN_END);
      assertThat(result.length()).isEqualTo(Layout.SEGMENT_DATA_OFFSET);
    }
  }

  @Test
  void shouldZeroAndReuseTrimmedSegments() throws Exception {
    LogFixture fixture = new LogFixture(3, 1024);
    SegmentedLog log = fixture.open(0);
    for (int round = 0; round < 50; round++) {
      long last = log.lastIndex();
      fill(log, 3);
      LogFixture.poll(log, last);
      log.trim(log.lastIndex());
      assertThat(log.segmentCount()).isEqualTo(1);
      assertThat(log.freeSegmentCount()).isEqualTo(2);
    }
    int zeroSlots = 0;
    for (int slot = 0; slot < 3; slot++) {
      boolean zero = true;
      for (int i = Layout.SEGMENT_DATA_OFFSET; i < fixture.slot(slot).capacity(); i++) {
        zero &= fixture.slot(slot).get(i) == 0;
      }
      zeroSlots += zero ? 1 : 0;
    }
    assertThat(zeroSlots).isEqualTo(2);
    assertThat(fixture.recover(150)).isEmpty();
    assertThat(fixture.open(150).lastIndex()).isEqualTo(150);
  }

  @Test
  void shouldKeepWhatACheckpointDoesNotCover() throws Exception {
    LogFixture fixture = new LogFixture(8, 1024);
    SegmentedLog log = fixture.open(0);
    fill(log, 30);
    LogFixture.poll(log, 0);
    for (int checkpoint = 1; checkpoint <= 30; checkpoint++) {
      log.trim(checkpoint);
      assertThat(fixture.recover(checkpoint)).hasSize(30 - checkpoint);
      log = fixture.open(checkpoint);
      LogFixture.poll(log, checkpoint);
    }
  }

  @Test
  void shouldStayUsableWhenFullAtTheStart() throws Exception {
    LogFixture fixture = new LogFixture(3, 1024);
    SegmentedLog full = fixture.open(0);
    byte[] big = new byte[900];
    for (int i = 0; i < 3; i++) {
      full.propose(ByteBuffer.wrap(big));
    }

    SegmentedLog log = fixture.open(0);
    assertThatThrownBy(() -> log.propose(ByteBuffer.wrap(big)))
        .satisfies(e -> assertThat(((TakoException) e).status()).isEqualTo(Status.NO_SPACE));
    assertThat(LogFixture.poll(log, 0)).hasSize(3);
    log.trim(3);

    assertThat(log.propose(ByteBuffer.wrap(big))).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void shouldRefuseAChainWithAMissingSegment(int missing) throws Exception {
    LogFixture fixture = new LogFixture(4, 1024);
    SegmentedLog log = fixture.open(0);
    fill(log, 25);
    assertThat(log.segmentCount()).isEqualTo(4);
    LogFixture.poll(log, 0);
    for (int i = 0; i < Layout.SEGMENT_DATA_OFFSET; i++) {
      fixture.slot(missing).put(i, (byte) 0);
    }

    assertCorrupt(fixture, 0, missing == 0 ? "does not continue" : "is missing");
  }

  @Test
  void shouldRefuseALogThatDoesNotContinueTheCheckpoint() throws Exception {
    LogFixture fixture = new LogFixture(4, 1024);
    assertCorrupt(fixture, 5, "entries 1 to 0, which does not continue the checkpoint at entry 5");
    fill(fixture.open(0), 4);
    assertCorrupt(fixture, 5, "entries 1 to 4, which does not continue the checkpoint at entry 5");
  }

  @Test
  void shouldRefuseTheZoneOfAnotherLog() throws Exception {
    LogFixture fixture = new LogFixture(2, 1024);
    fill(fixture.open(0), 1);

    assertThatThrownBy(() -> SegmentedLog.open(fixture.zone(), new LogIdentity(8, 1), 0))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("slot 0 belongs to log 7, not to log 8");
  }

  @Test
  void shouldRefuseSegmentsWhoseTermsGoDown() throws Exception {
    LogFixture fixture = new LogFixture(4, 1024);
    fill(fixture.open(0, 3), 1);
    fill(fixture.open(0, 4), 1);
    SegmentHeader second = SegmentHeader.read(fixture.zone().slot(1), crc);
    second.adopted(1, 2).write(fixture.zone(), 1, crc);

    assertCorrupt(fixture, 0, "terms never go down");
  }

  /** Neither below the entry before, of whichever segment, nor above the segment's. */
  @ParameterizedTest
  @ValueSource(ints = {3, 6})
  void shouldRefuseAnEntryWhoseTermIsNotPossible(int term) throws Exception {
    LogFixture fixture = new LogFixture(4, 1024);
    fill(fixture.open(0, 4), 1);
    fill(fixture.open(0, 5), 1);
    ByteBuffer memory = fixture.zone().slot(1);
    SegmentHeader second = SegmentHeader.read(memory, crc);
    ByteBuffer entry = ByteBuffer.wrap(new byte[100]);
    new FrameCodec()
        .write(
            memory,
            memory.duplicate(),
            Layout.SEGMENT_DATA_OFFSET,
            crc.ofSegment(second),
            (short) 5,
            2,
            1,
            term,
            FrameCodec.ENTRY,
            entry);

    assertCorrupt(fixture, 0, "its term " + term + " is not between");
  }

  private void assertCorrupt(LogFixture fixture, long checkpoint, String what) {
    byte[][] before = fixture.snapshot();
    assertThatThrownBy(() -> fixture.open(checkpoint))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(what)
        .satisfies(e -> assertThat(((TakoException) e).status()).isEqualTo(Status.CORRUPT));
    assertThat(fixture.snapshot()).isEqualTo(before);
  }

  private SegmentScanner.Result scan(ByteBuffer memory, SegmentHeader header) {
    return new SegmentScanner(crc, new FrameCodec()).scan(memory, header, 0, 0, memory.capacity());
  }

  private static SegmentHeader header(
      int logId, long sequence, long term, long baseIndex, int baseChain) {
    return new SegmentHeader(
        SegmentState.OPEN, logId, 1, sequence, term, baseIndex, baseChain, 0, 0, 0, 1);
  }

  private void fill(SegmentedLog log, int count) throws TakoException {
    for (int i = 0; i < count; i++) {
      log.propose(ByteBuffer.wrap(LogFixture.randomBytes(random, 100)));
    }
  }
}
