package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.SegmentScanner.End;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Flipped bits and unfinished frames, at every position there is. */
class FrameDamageTest {
  private static final int FIRST = Layout.SEGMENT_DATA_OFFSET;
  private final Random random = new Random(2);
  private LogFixture fixture;
  private SegmentedLog log;
  private List<byte[]> entries;

  @BeforeEach
  void writeThreeEntries() throws Exception {
    fixture = new LogFixture(4, 1024);
    log = fixture.open(0);
    entries = new ArrayList<>();
    for (int length : new int[] {21, 100, 13}) {
      propose(length);
    }
  }

  private void propose(int length) throws TakoException {
    byte[] entry = LogFixture.randomBytes(random, length);
    log.propose(ByteBuffer.wrap(entry));
    entries.add(entry);
  }

  @Test
  void shouldRefuseEveryFlippedBitOfACommittedFrame() {
    LogFixture.poll(log, 0);
    for (int offset = FIRST; offset < endOfFrames(); offset++) {
      for (int bit = 0; bit < 8; bit++) {
        fixture.flipBit(0, offset, bit);
        assertCorrupt("segment 1 in slot 0");
        fixture.flipBit(0, offset, bit);
      }
    }
    assertEntries(fixture, 3);
  }

  @Test
  void shouldRefuseEveryFlippedBitOfASealedSegment() throws Exception {
    LogFixture.poll(log, 0);
    fixture.open(3);
    byte[][] whole = fixture.snapshot();
    for (int offset = FIRST; offset < endOfFrames(); offset++) {
      fixture.restore(whole);
      fixture.flipBit(0, offset, random.nextInt(8));
      byte[][] damaged = fixture.snapshot();
      assertCorrupt("segment 1 in slot 0");
      assertThat(fixture.snapshot()).isEqualTo(damaged);
    }
  }

  @Test
  void shouldCutOffADamagedFrameThatWasNeverCommitted() throws Exception {
    byte[][] whole = fixture.snapshot();
    int last = endOfFrames() - FrameCodec.frameSize(13);
    for (int offset = last; offset < endOfFrames(); offset++) {
      for (int bit = 0; bit < 8; bit++) {
        fixture.restore(whole);
        fixture.flipBit(0, offset, bit);
        SegmentedLog reopened = fixture.open(0);
        assertThat(reopened.recoveredEnd()).isEqualTo(End.TORN_END);
        assertThat(LogFixture.poll(reopened, 0)).hasSize(2);
        assertEntries(fixture, 2);
      }
    }
  }

  @Test
  void shouldSurviveDamageToOneHeaderCopyAndRefuseDamageToBoth() {
    LogFixture.poll(log, 0);
    byte[][] whole = fixture.snapshot();
    for (int offset = 0; offset < Layout.SEGMENT_HEADER_SIZE; offset++) {
      for (int bit = 0; bit < 8; bit++) {
        fixture.restore(whole);
        fixture.flipBit(0, offset, bit);
        assertEntries(fixture, 3);

        fixture.restore(whole);
        fixture.flipBit(0, Layout.SEGMENT_HEADER_COPY_B + offset, bit);
        assertEntries(fixture, 3);

        fixture.restore(whole);
        fixture.flipBit(0, offset, bit);
        fixture.flipBit(0, Layout.SEGMENT_HEADER_COPY_B + offset, bit);
        assertCorrupt("both headers of slot 0");
      }
    }
  }

  @Test
  void shouldSurviveDamageToOneCommitMarkAndRefuseDamageToBoth() {
    LogFixture.poll(log, 0);
    byte[][] whole = fixture.snapshot();
    for (int bit = 0; bit < Layout.SEGMENT_MARK_SIZE * 8; bit++) {
      for (int mark : new int[] {Layout.SEGMENT_MARK_A, Layout.SEGMENT_MARK_B}) {
        fixture.restore(whole);
        fixture.flipBit(0, mark + bit / 8, bit % 8);
        assertEntries(fixture, 3);
      }
      fixture.restore(whole);
      fixture.flipBit(0, Layout.SEGMENT_MARK_A + bit / 8, bit % 8);
      fixture.flipBit(0, Layout.SEGMENT_MARK_B + bit / 8, bit % 8);
      assertCorrupt("both of its commit marks");
    }
  }

  @Test
  void shouldNeverAcceptAFrameThatIsNotWhollyWritten() throws Exception {
    LogFixture.poll(log, 0);
    byte[][] before = fixture.snapshot();
    propose(150);
    byte[][] after = fixture.snapshot();
    int end = FrameCodec.frameSize(150) + FIRST + frames(3);

    for (int written = FIRST + frames(3); written <= end; written++) {
      int until = written;
      assertTorn(before, after, offset -> offset < until);
      assertTorn(before, after, offset -> offset >= until);
    }
    for (int chunkSize : new int[] {1, 8, 64, 100}) {
      for (int i = 0; i < 300; i++) {
        long seed = random.nextLong();
        assertTorn(before, after, offset -> new Random(seed + offset / chunkSize).nextInt(8) != 0);
      }
    }
  }

  /** The bytes of a write that arrived. */
  private interface Arrived {
    boolean test(int offset);
  }

  /**
   * Recovers from a partly arrived fourth frame, twice, writing on in between; nothing but whole
   * frames may ever appear.
   */
  private void assertTorn(byte[][] before, byte[][] after, Arrived arrived) throws Exception {
    fixture.restore(before);
    boolean whole = true;
    for (int offset = FIRST; offset < after[0].length; offset++) {
      if (arrived.test(offset)) {
        fixture.slot(0).put(offset, after[0][offset]);
      }
      whole &= fixture.slot(0).get(offset) == after[0][offset];
    }
    int expected = whole ? 4 : 3;
    assertEntries(fixture, expected);

    byte[] next = {1, 2, 3};
    SegmentedLog reopened = fixture.open(0);
    assertThat(reopened.propose(ByteBuffer.wrap(next))).isEqualTo(expected + 1);
    List<byte[]> all = new ArrayList<>(entries.subList(0, expected));
    all.add(next);
    assertThat(fixture.recover(0)).usingElementComparator(SegmentedLogTest::compare).isEqualTo(all);
  }

  private void assertEntries(LogFixture memory, int count) {
    try {
      assertThat(memory.recover(0))
          .usingElementComparator(SegmentedLogTest::compare)
          .isEqualTo(entries.subList(0, count));
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  private void assertCorrupt(String where) {
    assertThatThrownBy(() -> fixture.open(0))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(where)
        .satisfies(e -> assertThat(((TakoException) e).status()).isEqualTo(Status.CORRUPT));
  }

  private int endOfFrames() {
    return FIRST + frames(entries.size());
  }

  private int frames(int count) {
    int size = 0;
    for (byte[] entry : entries.subList(0, count)) {
      size += FrameCodec.frameSize(entry.length);
    }
    return size;
  }
}
