package io.takofs.server.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Frames that were written stay valid: words are checked as the bytes that they are. */
class Crc32cScratchTest {
  private static final int OFFSET = 8;

  private final Crc32cScratch crc = new Crc32cScratch();
  private final SplittableRandom random = new SplittableRandom(5);

  @Test
  void shouldCheckAHeaderAsItsBytesAfterTheChainValue() {
    for (int i = 0; i < 1000; i++) {
      int chain = random.nextInt();
      ByteBuffer memory = littleEndian(OFFSET + Layout.FRAME_HEADER_SIZE);
      memory.putLong(random.nextLong()).putLong(0); // the first word comes last
      memory.putLong(random.nextLong()).putLong(random.nextLong()).putInt(random.nextInt());
      long first = random.nextLong();
      ByteBuffer bytes = littleEndian(Integer.BYTES + Layout.FRAME_HEADER_HEADER_CRC_OFFSET);
      bytes.putInt(chain).putLong(first);
      bytes.put(memory.slice(OFFSET + Long.BYTES, bytes.remaining()));

      assertThat(crc.ofHeader(chain, first, memory, OFFSET)).isEqualTo(ofBytes(bytes));
    }
  }

  @Test
  void shouldCheckTwoWordsAsTheirBytes() {
    for (int i = 0; i < 1000; i++) {
      int first = random.nextInt();
      int second = random.nextInt();

      assertThat(crc.ofInts(first, second))
          .isEqualTo(ofBytes(littleEndian(2 * Integer.BYTES).putInt(first).putInt(second)));
    }
  }

  private static ByteBuffer littleEndian(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int ofBytes(ByteBuffer bytes) {
    CRC32C whole = new CRC32C();
    whole.update(bytes.duplicate().clear());
    return (int) whole.getValue();
  }
}
