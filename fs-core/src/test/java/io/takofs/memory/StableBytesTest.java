package io.takofs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StableBytesTest {
  private static final int MAX = Granules.BATCH * Layout.GRANULE_SIZE;
  private static final int OFFSET = 11;

  private final byte[] bytes = new byte[OFFSET + MAX + 1];

  StableBytesTest() {
    new Random(3).nextBytes(bytes);
  }

  private void checkCopied(ByteBuffer source) {
    for (int length : new int[] {0, 1, Layout.GRANULE_SIZE, MAX}) {
      source.position(OFFSET);
      ByteBuffer expected = ByteBuffer.allocate(length).put(bytes, OFFSET, length).flip();
      try (StableBytes stable = StableBytes.of(source, length)) {
        assertThat(stable.bytes()).isEqualTo(expected);
        assertThat(stable.bytes().isDirect()).isTrue();
        assertThat(source.position()).isEqualTo(OFFSET);
        if (length > 0 && source.hasArray()) {
          bytes[OFFSET]++;
          assertThat(stable.bytes()).as("whose original has changed").isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void shouldCopyWhatAnArrayHas() {
    checkCopied(ByteBuffer.wrap(bytes));
    checkCopied(ByteBuffer.wrap(bytes).asReadOnlyBuffer());
  }

  @Test
  void shouldTakeDirectBytesAsTheyAre() {
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).position(OFFSET);
    try (StableBytes stable = StableBytes.of(direct, MAX)) {
      direct.put(OFFSET, (byte) (bytes[OFFSET] + 1));
      assertThat(stable.bytes().get(0)).isEqualTo(direct.get(OFFSET));
      assertThat(stable.bytes().remaining()).isEqualTo(MAX);
      assertThat(direct.position()).isEqualTo(OFFSET);
    }
  }

  @Test
  void shouldKeepACopyUntilItIsClosed() {
    ByteBuffer source = ByteBuffer.wrap(bytes, 0, MAX);
    ByteBuffer other = ByteBuffer.wrap(bytes, OFFSET, MAX);
    try (StableBytes first = StableBytes.of(source, MAX)) {
      for (int i = 0; i < 2; i++) {
        try (StableBytes second = StableBytes.of(other, MAX)) {
          assertThat(first.bytes()).isEqualTo(source);
          assertThat(second.bytes()).isEqualTo(other);
        }
      }
      assertThat(first.bytes()).isEqualTo(source);
    }
  }

  @Test
  void shouldRefuseMoreThanABatch() {
    assertThatThrownBy(() -> StableBytes.of(ByteBuffer.wrap(bytes), MAX + 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> StableBytes.of(ByteBuffer.allocate(5).position(1), 5))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
