package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlabTableTest {
  private static final int GROUP = 1;
  private static final int OTHER = 2;
  private static final long ARENA = Layout.ARENA_SIZE;

  /** One full arena, and one with a slab and a half. */
  private static final List<Long> ARENAS = List.of(ARENA, Layout.SLAB_SIZE * 3L / 2);

  private static final List<Long> FOUR_SLABS = List.of(4L * Layout.SLAB_SIZE);

  private final ByteBuffer[] memory = HeapSlabs.memory(64);
  private SlabZone.Persistence persistence = SlabZone.Persistence.NONE;

  private SlabTable open(List<Long> arenas) throws TakoException {
    return SlabTable.open(
        new SlabZone(memory, (slot, at, length) -> persistence.persist(slot, at, length)), arenas);
  }

  @Test
  void shouldKnowWhichUnitsOfASlabHoldExtents() {
    SlabPlaces places = new SlabPlaces(ARENAS);
    assertThat(places.count()).isEqualTo(66);
    assertThat(places.slot(0, 0)).isZero();
    assertThat(places.slot(0, 63)).isEqualTo(63);
    assertThat(places.slot(0, 64)).isEqualTo(-1);
    assertThat(places.slot(1, 1)).isEqualTo(65);
    assertThat(places.slot(2, 0)).isEqualTo(-1);
    assertThat(places.slot(-1, 0)).isEqualTo(-1);
    assertThat(places.slot(0, -1)).isEqualTo(-1);
    for (int slot = 0; slot < places.count(); slot++) {
      assertThat(places.slot(places.arena(slot), places.index(slot))).isEqualTo(slot);
    }
    assertThat(places.firstUnit(0)).isEqualTo(16); // 1 MiB of checksums
    assertThat(places.endUnit(0)).isEqualTo(256);
    assertThat(places.firstUnit(63)).isZero();
    assertThat(places.endUnit(63)).isEqualTo(256);
    assertThat(places.firstUnit(64)).isEqualTo(1); // 24 KiB of checksums
    assertThat(places.firstUnit(65)).isZero();
    assertThat(places.endUnit(65)).isEqualTo(128);
  }

  @Test
  void shouldLendTheLowestFreeSlabsAndRememberIt() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 3);
    assertThat(table.lease(GROUP, 3, 1, 2)).containsExactly(0, 1);
    assertThat(table.lease(GROUP, 3, 2, 1)).containsExactly(2);
    assertThat(table.giveBack(1, GROUP, table.lease(1))).isTrue();
    table.free(1);
    table.hear(OTHER, 1);
    assertThat(table.lease(OTHER, 1, 1, 5))
        .as("the lowest, and no more than there are")
        .containsExactly(1, 3);
    assertThat(table.lease(OTHER, 1, 2, 5)).isEmpty();

    SlabTable again = open(FOUR_SLABS);
    assertThat(again.heldBy(GROUP, -1, 9)).containsExactly(0, 2);
    assertThat(again.heldBy(OTHER, -1, 9)).containsExactly(1, 3);
    assertThat(again.heldBy(OTHER, -1, 1)).containsExactly(1);
    assertThat(again.heldBy(OTHER, 1, 9)).containsExactly(3);
    assertThat(leases(again)).isEqualTo(leases(table)).doesNotHaveDuplicates();
  }

  @Test
  void shouldLendTheSameSlabsWhenARequestIsRepeated() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 1);
    table.lease(GROUP, 1, 1, 1);
    List<Integer> slots = table.lease(GROUP, 1, 2, 2);
    List<Long> leases = leases(table);
    assertThat(table.lease(GROUP, 1, 2, 2)).isEqualTo(slots);
    SlabTable again = open(FOUR_SLABS);
    assertThat(again.lease(GROUP, 1, 2, 2)).isEqualTo(slots);
    assertThat(leases(again)).isEqualTo(leases);

    again.giveBack(slots.get(0), GROUP, again.lease(slots.get(0)));
    assertThat(again.lease(GROUP, 1, 2, 2)).as("what is left").containsExactly(slots.get(1));
    again.free(slots.get(0));
    again.giveBack(slots.get(1), GROUP, again.lease(slots.get(1)));
    assertThat(again.lease(GROUP, 1, 2, 2)).isEmpty();

    again.hear(GROUP, 2);
    assertThat(again.lease(GROUP, 2, 2, 1)).as("another leader").hasSize(1);
  }

  @Test
  void shouldNeverRepeatALeaseNumber() throws Exception {
    List<Long> seen = new ArrayList<>();
    for (int round = 0; round < 10; round++) {
      SlabTable table = open(FOUR_SLABS);
      table.hear(GROUP, round);
      for (int slot : table.lease(GROUP, round, 1, 1 + round % 4)) {
        seen.add(table.lease(slot));
        assertThat(table.giveBack(slot, GROUP, table.lease(slot))).isTrue();
        table.free(slot);
      }
    }
    assertThat(seen).doesNotHaveDuplicates().isSorted().allMatch(lease -> lease > 0);
  }

  @Test
  void shouldRefuseEarlierLeadersAlsoAfterARestart() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 5);
    table.lease(GROUP, 5, 1, 2);
    assertStale(table, GROUP, 4);
    table.hear(GROUP, 8); // of which nothing else is heard
    assertStale(table, GROUP, 7);
    table = open(FOUR_SLABS);
    assertStale(table, GROUP, 7);
    table.hear(GROUP, 8);
    table.hear(OTHER, 1); // terms are the group's own

    assertThat(table.lease(GROUP, 8, 1, 1)).as("request 1 of term 8").containsExactly(2);
    assertThat(table.lease(GROUP, 5, 1, 1))
        .as("the slab that carries the later term")
        .containsExactly(1);
  }

  @Test
  void shouldNotGiveSlabsOfAFormerNamespaceToAnother() throws Exception {
    long other = 1L << 32; // the first term of a leader that lost its pool
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 5);
    table.lease(GROUP, 5, 1, 2);
    for (SlabTable each : List.of(table, open(FOUR_SLABS))) {
      assertThat(catchThrowable(() -> each.hear(GROUP, other)))
          .isInstanceOfSatisfying(
              TakoException.class,
              refused -> assertThat(refused.status()).isEqualTo(Status.PERMISSION_DENIED))
          .hasMessageContaining("2 slabs have data of the namespace that group 1 had before")
          .hasMessageContaining("--format");
      each.hear(GROUP, 5);
    }
    table.giveBack(0, GROUP, table.lease(0));
    table.giveBack(1, GROUP, table.lease(1));
    table.hear(GROUP, other);
    assertStale(table, GROUP, 6);
  }

  @Test
  void shouldKeepTheTermWhenTheSlabThatCarriesItIsLentToAnother() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 5);
    table.lease(GROUP, 5, 1, 1);
    table.hear(GROUP, 6);
    table.lease(GROUP, 6, 1, 1);
    table.hear(GROUP, 9);
    assertThat(table.giveBack(0, GROUP, table.lease(0))).isTrue(); // it carries term 9
    table.free(0);
    table.hear(OTHER, 2);
    assertThat(table.lease(OTHER, 2, 1, 1)).containsExactly(0);
    SlabTable again = open(FOUR_SLABS);
    assertStale(again, GROUP, 8);
    assertStale(again, OTHER, 1);
    again.hear(GROUP, 9);
  }

  @Test
  void shouldDoNothingForAnotherLease() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 1);
    table.lease(GROUP, 1, 1, 1);
    long first = table.lease(0);
    table.giveBack(0, GROUP, first);
    assertThat(table.giveBack(0, GROUP, first)).as("again").isFalse();
    table.free(0);
    table.lease(GROUP, 1, 2, 1);
    assertThat(table.giveBack(0, GROUP, first)).isFalse();
    assertThat(table.giveBack(0, OTHER, table.lease(0))).isFalse();
    assertThat(table.heldBy(GROUP, -1, 9)).containsExactly(0);
    table.free(0);
    assertThat(table.heldBy(GROUP, -1, 9)).as("it is not returned").containsExactly(0);
  }

  @Test
  void shouldRefuseFencedGrantsUntilTheSlabIsLentAnew() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 1);
    table.lease(GROUP, 1, 1, 1);
    long lease = table.lease(0);
    assertThat(table.fence(0, GROUP, lease, 4, 2, 7)).isEqualTo(SlabTable.Fence.OPEN);
    table.close(0, GROUP, lease, 4, 2, 7);
    table.close(0, GROUP, lease, 5, 1, 6); // lower: stays
    table.close(0, GROUP, lease + 1, 0, 16, 9); // not the present lease
    for (SlabTable each : List.of(table, open(FOUR_SLABS))) {
      assertThat(each.fence(0, GROUP, lease, 4, 2, 7)).isEqualTo(SlabTable.Fence.DONE);
      assertThat(each.fence(0, GROUP, lease, 4, 2, 8)).isEqualTo(SlabTable.Fence.OPEN);
      assertThat(each.fence(0, GROUP, lease, 4, 4, 7)).isEqualTo(SlabTable.Fence.OPEN);
      assertThat(each.fence(0, GROUP, lease + 1, 4, 2, 8)).isEqualTo(SlabTable.Fence.OVER);
      assertThat(each.fence(0, OTHER, lease, 4, 2, 8)).isEqualTo(SlabTable.Fence.OVER);
      assertThat(each.isClosed(0, lease, 5, 7)).isTrue();
      assertThat(each.isClosed(0, lease, 5, 8)).isFalse();
      assertThat(each.isClosed(0, lease, 6, 7)).isFalse();
      assertThat(each.isClosed(0, lease + 1, 6, 7)).isTrue();
    }
    table.close(0, GROUP, lease, 255, 1, -1); // numbers have no sign
    assertThat(table.isClosed(0, lease, 255, Long.MAX_VALUE)).isTrue();

    table.giveBack(0, GROUP, lease);
    assertThat(table.isClosed(0, lease, 6, 7)).as("not lent").isTrue();
    table.free(0);
    table.lease(GROUP, 1, 2, 1);
    assertThat(table.isClosed(0, table.lease(0), 5, 1)).isFalse();
    assertThat(table.isClosed(0, table.lease(0), 255, 1)).isFalse();
  }

  @Test
  void shouldCountWholeSlabs() throws Exception {
    SlabTable table =
        SlabTable.open(new SlabZone(HeapSlabs.memory(66), SlabZone.Persistence.NONE), ARENAS);
    long all = ARENA - (1 << 20) + Layout.SLAB_SIZE * 3L / 2 - Layout.UNIT_SIZE;
    assertThat(table.usage())
        .isEqualTo(SpaceUsage.newBuilder().setCapacity(all).setFree(all).build());
    table.hear(GROUP, 1);
    table.lease(GROUP, 1, 1, 1);
    long used = Layout.SLAB_SIZE - (1 << 20);
    assertThat(table.usage().getUsed()).isEqualTo(used);
    table.giveBack(0, GROUP, table.lease(0));
    assertThat(table.usage().getUsed()).as("while it is RETURNED").isEqualTo(used);
    table.free(0);
    assertThat(table.usage().getFree()).isEqualTo(all);
  }

  @Test
  void shouldOpenWithEitherCopyOfARecordDamagedAtEveryBitAndRefuseTwo() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    table.hear(GROUP, 1);
    table.lease(GROUP, 1, 1, 2);
    List<Long> leases = leases(table);
    int slot = Layout.SLAB_SLOT_SIZE;
    for (int copy : new int[] {slot, slot + Layout.SLAB_COPY_B}) {
      for (int bit = 0; bit < 8 * Layout.SLAB_RECORD_SIZE; bit++) {
        flip(copy + bit / 8, bit % 8);
        assertThat(leases(open(FOUR_SLABS))).isEqualTo(leases);
        flip(copy + bit / 8, bit % 8);
      }
    }
    flip(slot + Layout.SLAB_RECORD_LEASE_OFFSET, 3);
    flip(slot + Layout.SLAB_COPY_B + Layout.SLAB_RECORD_LEASE_OFFSET, 4);
    Throwable thrown = catchThrowable(() -> open(FOUR_SLABS));
    assertThat(thrown)
        .hasMessageContaining("slab 1 of arena 0")
        .hasMessageContaining("keep a copy");
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.CORRUPT);
    assertThat(catchThrowable(() -> open(List.of(ARENA * 20))))
        .hasMessageContaining("slots for 1280 slabs");
  }

  private void flip(int at, int bit) {
    memory[0].put(at, (byte) (memory[0].get(at) ^ 1 << bit));
  }

  // ---- crashes ----------------------------------------------------------------------------------

  /** Images of the memory after each store that was made persistent, the first one before any. */
  private final List<byte[]> images = new ArrayList<>();

  @Test
  void shouldHoldTheLastAnswerAfterACrashAtEveryStore() throws Exception {
    SlabTable table = open(FOUR_SLABS);
    persistence = (slot, at, length) -> images.add(memory[0].array().clone());
    images.add(memory[0].array().clone());
    table.hear(GROUP, 1);
    table.lease(GROUP, 1, 1, 2);
    table.hear(OTHER, 4);
    table.lease(OTHER, 4, 1, 1);
    table.close(0, GROUP, table.lease(0), 3, 5, 11);
    table.close(0, GROUP, table.lease(0), 0, 8, 12);
    table.hear(GROUP, 2);
    table.giveBack(0, GROUP, table.lease(0));
    table.free(0);
    table.lease(OTHER, 4, 2, 2);
    table.giveBack(1, GROUP, table.lease(1));
    table.free(1);
    table.hear(OTHER, 6);
    table.lease(OTHER, 6, 1, 9);
    persistence = SlabZone.Persistence.NONE;

    Random random = new Random(1);
    int crashes = 0;
    for (int i = 1; i < images.size(); i++) {
      List<String> whole = List.of(state(images.get(i - 1)), state(images.get(i)));
      for (byte[] torn : torn(images.get(i - 1), images.get(i), random)) {
        String state = state(torn);
        if (!whole.contains(state)) { // words of fences are stored one by one
          assertThat(withoutFences(state))
              .isIn(withoutFences(whole.get(0)), withoutFences(whole.get(1)));
          assertThat(withoutFences(whole.get(0))).isEqualTo(withoutFences(whole.get(1)));
        }
        // Lease numbers that were given before the present step are not given again.
        SlabTable next = open(torn);
        long highest = leases(open(images.get(i - 1))).stream().mapToLong(l -> l).max().orElse(0);
        next.hear(9, 1);
        for (int slot : next.lease(9, 1, 1, 4)) {
          assertThat(next.lease(slot)).isGreaterThan(highest);
          assertThat(next.isClosed(slot, next.lease(slot), 4, 1)).isFalse();
        }
        crashes++;
      }
    }
    assertThat(crashes).isGreaterThan(1000);
  }

  /** What a crash between two images may leave. */
  private static List<byte[]> torn(byte[] before, byte[] after, Random random) {
    List<byte[]> torn = new ArrayList<>();
    int first = Arrays.mismatch(before, after);
    if (first < 0) {
      return List.of(before);
    }
    int last = after.length - 1;
    while (before[last] == after[last]) {
      last--;
    }
    for (int end = first / 8 * 8; end <= last + 8; end += 8) { // stored in order
      byte[] image = before.clone();
      System.arraycopy(after, 0, image, 0, Math.min(end, after.length));
      torn.add(image);
    }
    for (int round = 0; round < 40; round++) { // what a loss of power leaves: any words
      byte[] image = before.clone();
      for (int at = first / 8 * 8; at <= last; at += 8) {
        if (random.nextBoolean()) {
          System.arraycopy(after, at, image, at, 8);
        }
      }
      torn.add(image);
    }
    return torn;
  }

  private static SlabTable open(byte[] image) throws TakoException {
    ByteBuffer[] copy = {ByteBuffer.wrap(image.clone())};
    return SlabTable.open(new SlabZone(copy, SlabZone.Persistence.NONE), FOUR_SLABS);
  }

  /** All that the table in {@code image} says of slabs that are lent. */
  private static String state(byte[] image) throws TakoException {
    SlabTable table = open(image);
    StringBuilder text = new StringBuilder();
    for (int group = 1; group <= 2; group++) {
      for (int slot : table.heldBy(group, -1, 9)) {
        long lease = table.lease(slot);
        text.append("%d to %d as %d".formatted(slot, group, lease));
        text.append(" {");
        for (int unit = 0; unit < 16; unit++) {
          for (long grant : new long[] {11, 12}) {
            text.append(table.isClosed(slot, lease, unit, grant) ? 'x' : '-');
          }
        }
        text.append("}\n");
      }
    }
    text.append("returned ").append(table.returned());
    return text.toString();
  }

  private static String withoutFences(String state) {
    return state.replaceAll("\\{.*}", "");
  }

  private static List<Long> leases(SlabTable table) {
    List<Long> leases = new ArrayList<>();
    for (int slot = 0; slot < 4; slot++) {
      if (table.lease(slot) > 0) {
        leases.add(table.lease(slot));
      }
    }
    return leases;
  }

  private static void assertStale(SlabTable table, int group, long term) {
    Throwable thrown = catchThrowable(() -> table.hear(group, term));
    assertThat(thrown).isInstanceOf(TakoException.class);
    assertThat(((TakoException) thrown).status()).isEqualTo(Status.STALE_TERM);
  }
}
