package io.takofs.server.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.memory.Zeros;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlotPoolTest {
  private static final int DATA_BYTES = 5 << 19; // more than two pieces

  private final ByteBuffer[] slots = {slot(), slot(), slot()};
  private final SlotPool pool = pool();

  /** A member that gives slots back in an election cannot wait for that. */
  @Test
  void shouldNotZeroSlotsThatAreGivenBack() {
    fill(0);
    fill(1);
    pool.add(0);
    pool.rest(List.of(1), () -> true);
    assertThat(pool.freeCount()).isEqualTo(2);
    assertThat(slots[0]).isEqualTo(ByteBuffer.wrap(content(0)));
    assertThat(slots[1]).isEqualTo(ByteBuffer.wrap(content(1)));
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
    ByteBuffer memory = slots[slot];
    assertThat(Zeros.are(memory, Layout.SEGMENT_DATA_OFFSET, DATA_BYTES)).isTrue();
    assertThat(memory.get(Layout.SEGMENT_DATA_OFFSET - 1)).as("what is before").isNotZero();
    return slot;
  }

  private static ByteBuffer slot() {
    return ByteBuffer.allocateDirect(Layout.SEGMENT_DATA_OFFSET + DATA_BYTES);
  }

  private void fill(int slot) {
    slots[slot].put(0, content(slot));
  }

  private static byte[] content(int slot) {
    byte[] bytes = new byte[Layout.SEGMENT_DATA_OFFSET + DATA_BYTES];
    new Random(slot).nextBytes(bytes);
    bytes[Layout.SEGMENT_DATA_OFFSET - 1] = 1;
    return bytes;
  }

  private SlotPool pool() {
    Crc32cScratch crc = new Crc32cScratch();
    SegmentHeader[] headers = new SegmentHeader[slots.length];
    for (int slot = 0; slot < headers.length; slot++) {
      headers[slot] = SegmentHeader.read(slots[slot], crc);
    }
    return new SlotPool(new LogZone(slots, Persistence.NONE), new LogIdentity(7, 1), headers, crc);
  }
}
