package io.takofs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoresTest {
  private static final int ROOM = 70_000;

  private final byte[] bytes = new byte[ROOM];

  StoresTest() {
    new Random(1).nextBytes(bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100, 16_383, 16_384, 16_385, 65_536})
  void shouldStoreExactlyTheRangeWhateverTheBufferIs(int length) {
    ByteBuffer direct = ByteBuffer.allocateDirect(ROOM).put(bytes).clear();
    check(ByteBuffer.wrap(bytes), 0, length);
    check(ByteBuffer.wrap(bytes).asReadOnlyBuffer(), 0, length);
    check(ByteBuffer.wrap(bytes, 5, ROOM - 5).slice(), 5, length);
    check(direct, 0, length);
    check(direct.asReadOnlyBuffer(), 0, length);
  }

  private void check(ByteBuffer from, int shift, int length) {
    int offset = 1001;
    int at = 77;
    ByteBuffer to = ByteBuffer.allocateDirect(ROOM);
    Stores.copy(to, at, from, offset, length);
    for (int i = 0; i < ROOM; i++) {
      boolean inside = i >= at && i < at + length;
      byte wanted = inside ? bytes[shift + offset + i - at] : 0;
      assertThat(to.get(i)).as("byte %d of %d", i, length).isEqualTo(wanted);
    }
    assertThat(from.position()).isZero();
    assertThat(to.position()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 65_536})
  void shouldRefuseWhatDoesNotFit(int length) {
    ByteBuffer to = ByteBuffer.allocateDirect(ROOM);
    ByteBuffer from = ByteBuffer.wrap(bytes);
    assertThatThrownBy(() -> Stores.copy(to, ROOM - length + 1, from, 0, length))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> Stores.copy(to, 0, from, ROOM - length + 1, length))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> Stores.copy(to, -1, from, 0, length))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void shouldStoreIntoTheHeapToo() {
    ByteBuffer to = ByteBuffer.allocate(ROOM);
    Stores.copy(to, 0, ByteBuffer.wrap(bytes), 0, ROOM);
    assertThat(to.array()).isEqualTo(bytes);
  }
}
