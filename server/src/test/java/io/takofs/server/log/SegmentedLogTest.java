package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.SegmentScanner.End;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SegmentedLogTest {
  private final Random random = new Random(1);

  @Test
  void shouldDeliverProposedEntriesOnceInOrder() throws Exception {
    LogFixture fixture = new LogFixture(4, 4096);
    SegmentedLog log = fixture.open(0);
    List<byte[]> written = append(log, 40, 1, 300);
    assertThat(log.commitIndex()).isZero();

    List<byte[]> delivered = LogFixture.poll(log, 0);

    assertThat(delivered).usingElementComparator(SegmentedLogTest::compare).isEqualTo(written);
    assertThat(log.commitIndex()).isEqualTo(40);
    assertThat(LogFixture.poll(log, 40)).isEmpty();
  }

  @Test
  void shouldDeliverAfterReopenWhatIsAboveTheCheckpoint() throws Exception {
    LogFixture fixture = new LogFixture(8, 4096);
    List<byte[]> written = append(fixture.open(0), 60, 1, 300);

    for (int checkpoint = 0; checkpoint <= 60; checkpoint++) {
      assertThat(fixture.recover(checkpoint))
          .usingElementComparator(SegmentedLogTest::compare)
          .isEqualTo(written.subList(checkpoint, 60));
    }
    assertThat(fixture.open(0).recoveredEnd()).isEqualTo(End.CLEAN_END);
  }

  @Test
  void shouldGoOnAfterReopen() throws Exception {
    LogFixture fixture = new LogFixture(8, 4096);
    List<byte[]> written = new ArrayList<>(append(fixture.open(0), 5, 1, 300));
    written.addAll(append(fixture.open(0), 5, 1, 300));
    written.addAll(append(fixture.open(5), 5, 1, 300));

    assertThat(fixture.recover(0))
        .usingElementComparator(SegmentedLogTest::compare)
        .isEqualTo(written);
  }

  @Test
  void shouldRefuseWhenFullAndGoOnAfterTrim() throws Exception {
    LogFixture fixture = new LogFixture(3, 1024);
    SegmentedLog log = fixture.open(0);
    byte[] entry = new byte[100];
    for (int i = 0; i < 3 * (1024 / FrameCodec.frameSize(100)); i++) {
      log.propose(ByteBuffer.wrap(entry));
    }
    long last = log.lastIndex();

    assertThatThrownBy(() -> log.propose(ByteBuffer.wrap(entry)))
        .isInstanceOf(TakoException.class)
        .satisfies(e -> assertThat(((TakoException) e).status()).isEqualTo(Status.NO_SPACE));
    assertThat(log.lastIndex()).isEqualTo(last);
    assertThat(LogFixture.poll(log, 0)).hasSize((int) last);

    log.trim(last);

    assertThat(log.propose(ByteBuffer.wrap(entry))).isEqualTo(last + 1);
    assertThat(fixture.recover(last)).hasSize(1);
  }

  @Test
  void shouldGiveEachEntryTheTermOfTheLeaderThatProposedIt() throws Exception {
    LogFixture fixture = new LogFixture(8, 1024);
    long next = 3L << Integer.SIZE; // of another namespace
    append(fixture.open(0, 2), 2, 1, 300);
    fixture.open(0, 5); // proposes nothing
    SegmentedLog log = fixture.open(0, 70_000);
    append(log, 1, 1, 300);
    log.lead(70_001);
    append(log, 1, 1, 300);
    fixture.open(4, 70_002);
    append(fixture.open(4, next), 1, 1, 300);

    assertThat(terms(fixture.open(0, next))).containsExactly(2L, 2L, 70_000L, 70_001L, next);
  }

  private static List<Long> terms(SegmentedLog log) {
    List<Long> terms = new ArrayList<>();
    log.poll((index, term, payload) -> terms.add(term));
    return terms;
  }

  @Test
  void shouldRefuseALeaderOfAnEarlierTerm() throws Exception {
    LogFixture fixture = new LogFixture(4, 1024);
    append(fixture.open(0, 5), 2, 1, 300);
    byte[][] before = fixture.snapshot();

    SegmentedLog log = SegmentedLog.open(fixture.zone(), LogFixture.IDENTITY, 0);
    byte[][] sealed = fixture.snapshot();
    assertThatThrownBy(() -> log.lead(4))
        .hasFieldOrPropertyWithValue("status", Status.STALE_TERM)
        .hasMessageContaining("segments of term 5")
        .hasMessageContaining("in term 4");
    assertThat(fixture.snapshot()).isEqualTo(sealed).isNotEqualTo(before);
    log.lead(5);
    append(log, 1, 1, 300);
    assertThat(terms(log)).containsExactly(5L, 5L, 5L);
  }

  private List<byte[]> append(SegmentedLog log, int count, int min, int max) throws Exception {
    List<byte[]> written = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] entry = LogFixture.randomBytes(random, min + random.nextInt(max - min));
      log.propose(ByteBuffer.wrap(entry));
      written.add(entry);
    }
    return written;
  }

  static int compare(byte[] a, byte[] b) {
    return java.util.Arrays.compare(a, b);
  }
}
