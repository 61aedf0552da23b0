package io.takofs.server.extent;

import static io.takofs.server.extent.Slabs.slab;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.proto.Slab;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExtentAllocatorTest {
  private static final int UNIT = 65536;
  private static final int MIB = 1 << 20;

  private static ExtentAllocator of(Slab... slabs) {
    ExtentAllocator allocator = new ExtentAllocator();
    for (Slab slab : slabs) {
      allocator.add(slab);
    }
    return allocator;
  }

  private static SlabRange allocate(ExtentAllocator allocator, long bytes) {
    return allocate(allocator, bytes, 1, 0);
  }

  private static SlabRange allocate(
      ExtentAllocator allocator, long bytes, int copies, int near, Integer... avoided) {
    return allocator.allocate(bytes, new Wanted(bytes, 1, copies, near, Set.of(avoided)));
  }

  private static long free(ExtentAllocator allocator, int copies, Integer... avoided) {
    return allocator.freeBytes(copies, Set.of(avoided));
  }

  @Test
  void shouldHandOutOnlyTheUnitsOfASlab() {
    ExtentAllocator allocator = of(slab(7, 1, 1, 3, 1));
    assertThat(allocator.capacityBytes()).isEqualTo(2 * UNIT);
    assertThat(allocate(allocator, 1)).isEqualTo(new SlabRange(7, UNIT, UNIT));
    assertThat(allocate(allocator, 1)).isEqualTo(new SlabRange(7, 2 * UNIT, UNIT));
    assertThat(allocate(allocator, 1)).isNull();
  }

  @Test
  void shouldRoundUpToUnitsAndNeverGiveMoreThanThat() {
    ExtentAllocator allocator = of(slab(1, 1, 0, 256, 1));
    assertThat(allocate(allocator, 1).capacity()).isEqualTo(UNIT);
    assertThat(allocate(allocator, UNIT + 1).capacity()).isEqualTo(2 * UNIT);
    assertThat(allocate(allocator, 3 * UNIT).capacity()).isEqualTo(2 * UNIT);
    assertThat(allocate(allocator, MIB - 1).capacity()).isEqualTo(MIB);
    assertThat(allocate(allocator, 100L * MIB).capacity()).isEqualTo(MIB);
    assertThat(allocate(allocator, Long.MAX_VALUE - UNIT).capacity()).isEqualTo(MIB);
  }

  @Test
  void shouldHandOutFreshSlabsInOrder() {
    ExtentAllocator allocator = of(slab(5, 1, 0, 48, 1), slab(2, 1, 16, 64, 1));
    List<SlabRange> extents = new ArrayList<>();
    SlabRange next = allocate(allocator, MIB);
    while (next != null) {
      extents.add(next);
      next = allocate(allocator, MIB);
    }
    assertThat(extents)
        .containsExactly(
            new SlabRange(2, MIB, MIB),
            new SlabRange(2, 2 * MIB, MIB),
            new SlabRange(2, 3 * MIB, MIB),
            new SlabRange(5, 0, MIB),
            new SlabRange(5, MIB, MIB),
            new SlabRange(5, 2 * MIB, MIB));
  }

  @Test
  void shouldBreakUpTheTightestFrameAndPutItTogetherAgain() {
    // The frame of the checksums is broken already.
    ExtentAllocator allocator = of(slab(1, 1, 1, 64, 1));
    SlabRange first = allocate(allocator, UNIT);
    assertThat(first).isEqualTo(new SlabRange(1, UNIT, UNIT));
    SlabRange whole = allocate(allocator, MIB);
    assertThat(whole).isEqualTo(new SlabRange(1, MIB, MIB));
    allocator.free(whole);
    assertThat(allocate(allocator, MIB)).isEqualTo(whole);
  }

  @Test
  void shouldNoticeWhatIsTakenOrFreedTwice() {
    ExtentAllocator allocator = of(slab(1, 1, 0, 64, 1));
    SlabRange extent = allocate(allocator, 2 * UNIT);
    assertThatThrownBy(() -> allocator.take(extent)).isInstanceOf(IllegalStateException.class);
    allocator.free(extent);
    assertThatThrownBy(() -> allocator.free(extent)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocator.take(new SlabRange(1, 4 * MIB, UNIT)))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocator.take(new SlabRange(2, 0, UNIT)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldTakeSlabsOfAsManyCopiesAndTheNearestOfThem() {
    Slab far = slab(1, 2, 0, 64, 1, 2);
    Slab near = slab(2, 2, 0, 32, 2, 3);
    ExtentAllocator allocator = of(far, near, slab(3, 1, 0, 64, 3));
    assertThat(allocate(allocator, MIB, 2, 3).slab()).isEqualTo(2);
    assertThat(allocate(allocator, MIB, 2, 0).slab()).isEqualTo(1);
    assertThat(allocate(allocator, MIB, 2, 9).slab()).isEqualTo(1);
    assertThat(allocate(allocator, MIB, 1, 1).slab()).isEqualTo(3);
    assertThat(allocate(allocator, MIB, 3, 1)).isNull();
    assertThat(allocate(allocator, MIB, 2, 3).slab()).isEqualTo(2);
    // The near slab is full, so another one is taken.
    assertThat(allocate(allocator, MIB, 2, 3).slab()).isEqualTo(1);
    assertThat(free(allocator, 2)).isEqualTo(MIB);
    assertThat(free(allocator, 1)).isEqualTo(3 * MIB);
    assertThat(free(allocator, 3)).isZero();
  }

  @Test
  void shouldHandOutNothingWithACopyAtAServerThatIsAvoided() {
    ExtentAllocator allocator =
        of(slab(1, 2, 0, 16, 1, 2), slab(2, 2, 0, 16, 2, 3), slab(3, 2, 0, 32, 3, 1));
    assertThat(free(allocator, 2)).isEqualTo(4 * MIB);
    assertThat(free(allocator, 2, 1)).isEqualTo(MIB);
    assertThat(free(allocator, 2, 1, 2)).isZero();
    assertThat(free(allocator, 2, 2, 9)).isEqualTo(2 * MIB);
    assertThat(allocate(allocator, MIB, 2, 1, 2).slab()).isEqualTo(3);
    assertThat(allocate(allocator, MIB, 2, 1, 2).slab()).isEqualTo(3);
    assertThat(allocate(allocator, MIB, 2, 1, 2)).isNull();
    assertThat(allocate(allocator, MIB, 2, 0, 1).slab()).isEqualTo(2);
    assertThat(allocate(allocator, MIB, 2, 0, 3).slab()).isEqualTo(1);
  }

  @Test
  void shouldHandOutNothingOfAClosedSlab() {
    Slab slab = slab(1, 1, 0, 64, 1);
    ExtentAllocator allocator = of(slab);
    SlabRange extent = allocate(allocator, MIB);
    allocator.replace(slab.toBuilder().setClosed(true).build());
    assertThat(allocate(allocator, MIB)).isNull();
    assertThat(free(allocator, 1)).isZero();
    allocator.free(extent);
    assertThat(allocator.isWhollyFree(1)).isTrue();
    allocator.replace(slab);
    assertThat(free(allocator, 1)).isEqualTo(4 * MIB);
    assertThat(allocate(allocator, MIB)).isEqualTo(extent);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldNeverHandOutAUnitTwiceNorLoseOne(long seed) {
    Random random = new Random(seed);
    Slab[] slabs = {slab(0, 1, 2, 83, 1), slab(1, 1, 0, 32, 1)};
    ExtentAllocator allocator = of(slabs);
    List<SlabRange> held = new ArrayList<>();
    boolean[][] taken = new boolean[2][83];
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(100) < 52) {
        SlabRange extent = allocate(allocator, 1 + random.nextInt(2 * MIB));
        if (extent == null) {
          assertThat(allocator.freeBytes()).isZero();
          continue;
        }
        assertThat(Integer.bitCount(extent.capacity())).isEqualTo(1);
        assertThat(extent.offset() % extent.capacity()).isZero();
        mark(taken, extent, true);
        held.add(extent);
      } else if (!held.isEmpty()) {
        SlabRange extent = held.remove(random.nextInt(held.size()));
        mark(taken, extent, false);
        allocator.free(extent);
      }
      long bytes = held.stream().mapToLong(SlabRange::capacity).sum();
      assertThat(allocator.freeBytes()).isEqualTo(allocator.capacityBytes() - bytes);
      assertThat(free(allocator, 1)).isEqualTo(allocator.freeBytes());
    }
    ExtentAllocator rebuilt = of(slabs);
    for (Slab slab : slabs) {
      byte[] used = allocator.used(slab.getId());
      if (used != null) {
        rebuilt.restore(slab.getId(), used);
      }
    }
    assertThat(rebuilt.freeBytes()).isEqualTo(allocator.freeBytes());
    SlabRange next = allocate(allocator, UNIT);
    assertThat(allocate(rebuilt, UNIT)).isEqualTo(next);
  }

  private static void mark(boolean[][] taken, SlabRange extent, boolean value) {
    for (int i = 0; i < extent.capacity() / UNIT; i++) {
      assertThat(taken[(int) extent.slab()][extent.unit() + i]).isEqualTo(!value);
      taken[(int) extent.slab()][extent.unit() + i] = value;
    }
  }
}
