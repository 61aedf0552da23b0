package io.takofs.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.memory.Zeros;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlotPoolTest {
  private static final int DATA_BYTES = 5 << 19; // more than two pieces

  private final LogFixture fixture = new LogFixture(3, DATA_BYTES);
  private final SlotPool pool = pool();

  /** A member that gives slots back in an election cannot wait for that. */
  @Test
  void shouldNotZeroSlotsThatAreGivenBack() {
    fill(0);
    byte[][] before = fixture.snapshot();
    pool.add(0);
    pool.rest(List.of(1), () -> true);
    assertThat(pool.freeCount()).isEqualTo(2);
    assertThat(LogFixture.bytes(fixture.slot(0).clear())).isEqualTo(before[0]);
    assertThat(LogFixture.bytes(fixture.slot(1).clear())).isEqualTo(before[1]);
  }

  @Test
  void shouldTakeSlotsWhoseDataIsZeroHoweverFarTidyingHasCome() {
    for (int pieces = 0; pieces < 8; pieces++) {
      for (int slot = 0; slot < 3; slot++) {
        fill(slot);
        pool.add(slot);
      }
      for (int i = 0; i < pieces; i++) {
        pool.tidy();
      }
      Integer overwritten = pool.takeToOverwrite();
      assertThat(overwritten).isNotNull();
      assertThat(List.of(takeZeroed(), takeZeroed(), overwritten))
          .containsExactlyInAnyOrder(0, 1, 2);
      assertThat(pool.take()).isNull();
      assertThat(pool.takeToOverwrite()).isNull();
    }
  }

  private int takeZeroed() {
    Integer slot = pool.take();
    assertThat(slot).isNotNull();
    ByteBuffer memory = fixture.slot(slot);
    assertThat(Zeros.are(memory, Layout.SEGMENT_DATA_OFFSET, DATA_BYTES)).isTrue();
    assertThat(memory.get(Layout.SEGMENT_DATA_OFFSET - 1)).as("what is before").isNotZero();
    return slot;
  }

  private void fill(int slot) {
    byte[] bytes = LogFixture.randomBytes(new Random(slot), fixture.slot(slot).capacity());
    bytes[Layout.SEGMENT_DATA_OFFSET - 1] = 1;
    fixture.slot(slot).put(0, bytes);
  }

  private SlotPool pool() {
    Crc32cScratch crc = new Crc32cScratch();
    SegmentHeader[] headers = new SegmentHeader[fixture.slotCount()];
    for (int slot = 0; slot < headers.length; slot++) {
      headers[slot] = SegmentHeader.read(fixture.slot(slot), crc);
    }
    return new SlotPool(fixture.zone(), LogFixture.IDENTITY, headers, crc);
  }
}
