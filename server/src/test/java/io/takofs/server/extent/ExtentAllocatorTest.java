package io.takofs.server.extent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExtentAllocatorTest {
  private static final int UNIT = 65536;
  private static final int MIB = 1 << 20;

  @Test
  void shouldKeepTheChecksumsOfAnArenaApart() {
    assertThat(ExtentAllocator.checksumUnits(1L << 30)).isEqualTo(16);
    assertThat(ExtentAllocator.checksumUnits(64 * MIB)).isEqualTo(1);
    assertThat(ExtentAllocator.checksumUnits(65 * MIB)).isEqualTo(2);
    ExtentAllocator large = new ExtentAllocator(List.of(1L << 30));
    assertThat(large.capacityBytes()).isEqualTo((1L << 30) - MIB);
    assertThat(large.allocate(MIB)).isEqualTo(new Location(0, MIB, MIB));
    ExtentAllocator small = new ExtentAllocator(List.of(3L * UNIT));
    assertThat(small.capacityBytes()).isEqualTo(2 * UNIT);
    assertThat(small.allocate(1)).isEqualTo(new Location(0, UNIT, UNIT));
    assertThat(small.allocate(1)).isEqualTo(new Location(0, 2 * UNIT, UNIT));
    assertThat(small.allocate(1)).isNull();
  }

  @Test
  void shouldRefuseImpossibleArenas() {
    for (long size : new long[] {0, -1, UNIT + 1, (1L << 30) + UNIT}) {
      assertThatThrownBy(() -> new ExtentAllocator(List.of(size)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(Long.toString(size));
    }
  }

  @Test
  void shouldRoundUpToUnitsAndNeverGiveMoreThanThat() {
    ExtentAllocator allocator = new ExtentAllocator(List.of(8L * MIB));
    assertThat(allocator.allocate(1).capacity()).isEqualTo(UNIT);
    assertThat(allocator.allocate(UNIT + 1).capacity()).isEqualTo(2 * UNIT);
    assertThat(allocator.allocate(3 * UNIT).capacity()).isEqualTo(2 * UNIT);
    assertThat(allocator.allocate(MIB - 1).capacity()).isEqualTo(MIB);
    assertThat(allocator.allocate(100L * MIB).capacity()).isEqualTo(MIB);
  }

  @Test
  void shouldHandOutAFreshZoneInOrder() {
    ExtentAllocator allocator = new ExtentAllocator(List.of(4L * MIB, 3L * MIB));
    List<Location> extents = new ArrayList<>();
    Location next = allocator.allocate(MIB);
    while (next != null && next.capacity() == MIB) {
      extents.add(next);
      next = allocator.allocate(MIB);
    }
    assertThat(extents)
        .containsExactly(
            new Location(0, MIB, MIB),
            new Location(0, 2 * MIB, MIB),
            new Location(0, 3 * MIB, MIB),
            new Location(1, MIB, MIB),
            new Location(1, 2 * MIB, MIB));
    assertThat(next.capacity()).isEqualTo(MIB / 2);
  }

  @Test
  void shouldBreakUpTheTightestFrameAndPutItTogetherAgain() {
    ExtentAllocator allocator = new ExtentAllocator(List.of(4L * MIB));
    // The frame of the checksums is broken already.
    Location first = allocator.allocate(UNIT);
    assertThat(first).isEqualTo(new Location(0, UNIT, UNIT));
    Location whole = allocator.allocate(MIB);
    assertThat(whole).isEqualTo(new Location(0, MIB, MIB));
    assertThat(allocator.isFree(whole)).isFalse();
    allocator.free(whole);
    assertThat(allocator.isFree(whole)).isTrue();
    assertThat(allocator.allocate(MIB)).isEqualTo(whole);
  }

  @Test
  void shouldNoticeWhatIsTakenOrFreedTwice() {
    ExtentAllocator allocator = new ExtentAllocator(List.of(4L * MIB));
    Location extent = allocator.allocate(2 * UNIT);
    assertThatThrownBy(() -> allocator.take(extent)).isInstanceOf(IllegalStateException.class);
    allocator.free(extent);
    assertThatThrownBy(() -> allocator.free(extent)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocator.take(new Location(0, 4 * MIB, UNIT)))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldNeverHandOutAUnitTwiceNorLoseOne(long seed) {
    Random random = new Random(seed);
    List<Long> arenas = List.of(5L * MIB + 3 * UNIT, 2L * MIB);
    ExtentAllocator allocator = new ExtentAllocator(arenas);
    List<Location> held = new ArrayList<>();
    boolean[][] taken = new boolean[2][5 * 16 + 3];
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(100) < 52) {
        Location extent = allocator.allocate(1 + random.nextInt(2 * MIB));
        if (extent == null) {
          assertThat(allocator.freeBytes()).isZero();
          continue;
        }
        assertThat(Integer.bitCount(extent.capacity())).isEqualTo(1);
        assertThat(extent.offset() % extent.capacity()).isZero();
        mark(taken, extent, true);
        held.add(extent);
      } else if (!held.isEmpty()) {
        Location extent = held.remove(random.nextInt(held.size()));
        mark(taken, extent, false);
        allocator.free(extent);
      }
      long bytes = held.stream().mapToLong(Location::capacity).sum();
      assertThat(allocator.freeBytes()).isEqualTo(allocator.capacityBytes() - bytes);
    }
    ExtentAllocator rebuilt = new ExtentAllocator(arenas);
    held.forEach(rebuilt::take);
    Location next = allocator.allocate(UNIT);
    assertThat(rebuilt.allocate(UNIT)).isEqualTo(next);
  }

  private static void mark(boolean[][] taken, Location extent, boolean value) {
    for (int i = 0; i < extent.capacity() / UNIT; i++) {
      assertThat(taken[extent.arena()][extent.unit() + i]).isEqualTo(!value);
      taken[extent.arena()][extent.unit() + i] = value;
    }
  }
}
