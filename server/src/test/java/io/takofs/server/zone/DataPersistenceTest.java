package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DataPersistenceTest {
  private static final int ARENA_BYTES = 16 << 20;
  private static final long FILE = 7;

  private final byte[] memory = new byte[ARENA_BYTES];
  private final byte[] afterPowerLoss = new byte[ARENA_BYTES];

  private void persist(long offset, int length) {
    System.arraycopy(memory, (int) offset, afterPowerLoss, (int) offset, length);
  }

  @Test
  void shouldKeepAllCommittedBytesAndChecksumsOverALossOfPower() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      int offset = Layout.ARENA_CHECKSUM_SIZE + random.nextInt(8) * Layout.UNIT_SIZE;
      int[] committed = {0};
      DataPersistence persistence =
          new DataPersistence(List.of(this::persist), (file, at) -> committed[0], why -> {});
      while (committed[0] < Layout.UNIT_SIZE) {
        int room = Layout.UNIT_SIZE - committed[0];
        int length = committed[0] + 1 + random.nextInt(Math.min(room, 20_000));
        write(random, offset + committed[0], offset + length);
        persistence.persist(commit(offset, length));
        committed[0] = length;
        assertSurvives(offset, offset + length);
        assertSurvives(entry(offset), entry(offset + length));
      }
    }
  }

  @Test
  void shouldPersistOnlyWhatIsNew() {
    long[] bytes = {0};
    DataPersistence persistence =
        new DataPersistence(
            List.of((offset, length) -> bytes[0] += length), (file, at) -> 60_000, why -> {});
    persistence.persist(commit(Layout.ARENA_CHECKSUM_SIZE, 60_128));
    assertThat(bytes[0]).isLessThanOrEqualTo(128 + 4);
  }

  @Test
  void shouldSayThatBytesAreNotPersistent() {
    List<String> failures = new ArrayList<>();
    DataPersistence persistence =
        new DataPersistence(
            List.of(
                (offset, length) -> {
                  throw new IOException("as the test wants it");
                }),
            (file, at) -> 0,
            failures::add);
    assertThatThrownBy(() -> persistence.persist(commit(Layout.ARENA_CHECKSUM_SIZE, 100)))
        .isInstanceOf(UncheckedIOException.class);
    assertThat(failures).hasSize(1).allMatch(why -> why.contains("as the test wants it"));
  }

  @Test
  void shouldLeaveToTheStateMachineWhatIsOutOfBounds() {
    DataPersistence persistence =
        new DataPersistence(
            List.of(
                (offset, length) -> {
                  throw new AssertionError("persisted " + length + " at " + offset);
                }),
            (file, at) -> 0,
            why -> {});
    Extent extent = commit(Layout.ARENA_CHECKSUM_SIZE, 100).getExtents(0);
    for (Extent wrong :
        List.of(
            extent.toBuilder().setArena(1).build(),
            extent.toBuilder().setArena(-1).build(),
            extent.toBuilder().setOffset(-65536).setLength(65537).build(),
            extent.toBuilder().setLength(-1).build(),
            extent.toBuilder().setLength(Layout.EXTENT_SIZE_MAX + 1).build())) {
      persistence.persist(CommitExtents.newBuilder().setFileId(FILE).addExtents(wrong).build());
    }
  }

  /** As a writer does: bytes, and the entries of granules that are full. */
  private void write(Random random, int from, int to) {
    for (int at = from; at < to; at++) {
      memory[at] = (byte) random.nextInt();
    }
    for (int at = entry(from); at < entry(to); at++) {
      memory[at] = (byte) random.nextInt();
    }
  }

  private static int entry(int offset) {
    return offset / Layout.GRANULE_SIZE * Integer.BYTES;
  }

  private void assertSurvives(int from, int to) {
    assertThat(Arrays.equals(memory, from, to, afterPowerLoss, from, to))
        .as("bytes %d to %d", from, to)
        .isTrue();
  }

  private static CommitExtents commit(int offset, int length) {
    return CommitExtents.newBuilder()
        .setFileId(FILE)
        .addExtents(
            Extent.newBuilder()
                .setOffset(offset)
                .setCapacity(Layout.UNIT_SIZE)
                .setFileOffset(0)
                .setLength(length))
        .build();
  }
}
