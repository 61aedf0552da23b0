package io.takofs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class GranulesTest {
  private static final int COUNT = 7;
  private static final int OFFSET = 13;
  private static final int COPIES = 2000;
  private static final int ROOM = OFFSET + COUNT * Layout.GRANULE_SIZE + 5;

  private final byte[] bytes = new byte[ROOM];

  GranulesTest() {
    new Random(2).nextBytes(bytes);
  }

  private int crc(int granule) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, OFFSET + granule * Layout.GRANULE_SIZE, Layout.GRANULE_SIZE);
    return (int) crc.getValue();
  }

  private void checkChecksums(int[] crcs) {
    for (int i = 0; i < COUNT; i++) {
      assertThat(crcs[i]).as("granule %d", i).isEqualTo(crc(i));
    }
    assertThat(crcs[COUNT]).isZero();
  }

  private ByteBuffer direct() {
    return ByteBuffer.allocateDirect(ROOM).put(bytes).clear();
  }

  @Test
  void shouldBeOfEachGranuleWhateverTheBufferIs() {
    ByteBuffer heap = ByteBuffer.wrap(bytes);
    for (ByteBuffer buffer : new ByteBuffer[] {heap, direct(), heap.asReadOnlyBuffer()}) {
      int[] crcs = new int[COUNT + 1];
      Granules.checksums(buffer, OFFSET, COUNT, crcs);
      checkChecksums(crcs);
    }
    int[] crcs = new int[COUNT + 1];
    Granules.checksums(ByteBuffer.wrap(bytes, OFFSET, ROOM - OFFSET).slice(), 0, COUNT, crcs);
    checkChecksums(crcs);
  }

  /** Copies granules like {@link Granules#copy}. */
  @FunctionalInterface
  private interface Copier {
    void copy(ByteBuffer to, int at, ByteBuffer from, int offset, int count, int[] crcs);
  }

  private void check(Copier copier, ByteBuffer to, int at, ByteBuffer from) {
    int[] crcs = new int[COUNT + 1];
    copier.copy(to, at, from, OFFSET, COUNT, crcs);
    checkChecksums(crcs);
    int length = COUNT * Layout.GRANULE_SIZE;
    for (int i = 0; i < to.limit(); i++) {
      boolean inside = i >= at && i < at + length;
      assertThat(to.get(i)).as("byte %d", i).isEqualTo(inside ? bytes[OFFSET + i - at] : 0);
    }
  }

  @Test
  void shouldCopyExactlyTheGranules() {
    ByteBuffer heap = ByteBuffer.wrap(bytes);
    ByteBuffer slice = ByteBuffer.allocate(OFFSET + ROOM).put(OFFSET, bytes);
    for (ByteBuffer from :
        new ByteBuffer[] {
          heap, direct(), heap.asReadOnlyBuffer(), slice.slice(OFFSET, ROOM), direct().duplicate()
        }) {
      for (Copier copier : new Copier[] {Granules::copy, Granules::store}) {
        check(copier, ByteBuffer.allocate(ROOM), 3, from);
        check(copier, ByteBuffer.allocate(ROOM + 5).slice(5, ROOM), 3, from);
        check(copier, ByteBuffer.allocateDirect(ROOM), 3, from);
        ByteBuffer room = ByteBuffer.allocateDirect(ROOM + 64);
        check(copier, room, 64 - room.alignmentOffset(0, 64), from);
      }
    }
  }

  @Test
  void shouldGiveChecksumsOfTheCopyWhileTheOriginalChanges() throws InterruptedException {
    ByteBuffer heap = ByteBuffer.wrap(bytes);
    checkWhileChanging(Granules::copy, ByteBuffer.allocate(ROOM), direct());
    checkWhileChanging(Granules::copy, ByteBuffer.allocateDirect(ROOM), direct());
    checkWhileChanging(GranulesTest::storeStable, ByteBuffer.allocateDirect(ROOM), heap);
    checkWhileChanging(
        GranulesTest::storeStable, ByteBuffer.allocate(ROOM), heap.slice(1, ROOM - 1));
  }

  private static void storeStable(
      ByteBuffer to, int at, ByteBuffer from, int offset, int count, int[] crcs) {
    ByteBuffer source = from.duplicate().position(offset);
    try (StableBytes stable = StableBytes.of(source, count * Layout.GRANULE_SIZE)) {
      Granules.store(to, at, stable.bytes(), 0, count, crcs);
    }
  }

  private static void checkWhileChanging(Copier copier, ByteBuffer to, ByteBuffer from)
      throws InterruptedException {
    AtomicBoolean done = new AtomicBoolean();
    Thread changer =
        new Thread(
            () -> {
              for (long i = 0; !done.get(); i++) {
                from.putLong((int) (i * 1001 % (from.limit() - Long.BYTES)), i);
              }
            });
    changer.start();
    try {
      int[] crcs = new int[COUNT + 1];
      int[] found = new int[COUNT + 1];
      for (int i = 0; i < COPIES; i++) {
        copier.copy(to, OFFSET, from, 3, COUNT, crcs);
        Granules.checksums(to, OFFSET, COUNT, found);
        assertThat(crcs).isEqualTo(found);
      }
    } finally {
      done.set(true);
      changer.join();
    }
  }

  @Test
  void shouldRefuseWhatIsNotThere() {
    ByteBuffer heap = ByteBuffer.wrap(bytes);
    int[] crcs = new int[COUNT + 1];
    assertThatThrownBy(() -> Granules.checksums(heap, OFFSET + 6, COUNT, crcs))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> Granules.checksums(heap, 0, COUNT, new int[COUNT - 1]))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> Granules.copy(ByteBuffer.allocate(100), 0, heap, 0, 1, crcs))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> Granules.checksums(heap, -1, 1, crcs))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
