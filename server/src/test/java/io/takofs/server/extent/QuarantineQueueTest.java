package io.takofs.server.extent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class QuarantineQueueTest {
  private record Place(long slab, int unit, long generation) {}

  private int looks;
  private final Map<Place, Quarantined> records = new HashMap<>();
  private final QuarantineQueue queue =
      new QuarantineQueue(
          (slab, unit, generation) -> {
            looks++;
            return records.get(new Place(slab, unit, generation));
          });

  private Quarantined add(long slab, int unit, long generation, long sinceMs) {
    Quarantined extent =
        new Quarantined(SlabRange.ofUnits(slab, unit, 1), generation, generation, 0, sinceMs);
    queue.add(extent);
    records.put(new Place(slab, unit, generation), extent);
    return extent;
  }

  private void free(Quarantined extent) {
    SlabRange range = extent.range();
    records.remove(new Place(range.slab(), range.unit(), extent.generation()));
  }

  @Test
  void shouldGiveThoseWhoseTimeIsOverInTheOrderInWhichTheyCame() {
    Quarantined first = add(0, 5, 1, 10);
    Quarantined second = add(0, 3, 2, 20);
    Quarantined third = add(1, 4, 3, 30);
    assertThat(queue.hasFresh(9)).isFalse();
    assertThat(queue.next(9, 10)).isEmpty();
    assertThat(queue.hasFresh(10)).isTrue();
    assertThat(queue.next(20, 10)).containsExactly(first, second);
    assertThat(queue.hasFresh(29)).isFalse();
    assertThat(queue.next(30, 1)).containsExactly(third);
  }

  @Test
  void shouldGiveThoseThatStayAgainAfterThoseThatAreNew() {
    List<Quarantined> old = List.of(add(0, 1, 1, 1), add(0, 2, 1, 1));
    assertThat(queue.next(5, 2)).isEqualTo(old);
    Quarantined fresh = add(0, 3, 1, 1);
    assertThat(queue.next(5, 2)).containsExactly(fresh, old.get(0));
    // It goes round: none is passed over for ever.
    assertThat(queue.next(5, 1)).hasSize(1);
    assertThat(queue.next(5, 3)).containsExactlyInAnyOrder(old.get(0), old.get(1), fresh);
  }

  @Test
  void shouldForgetWhatIsInQuarantineNoMore() {
    Quarantined freed = add(0, 1, 1, 1);
    Quarantined seen = add(0, 2, 1, 1);
    free(freed);
    assertThat(queue.next(5, 10)).containsExactly(seen);
    free(seen);
    // The same place again, granted in between: another generation.
    Quarantined again = add(0, 2, 2, 3);
    assertThat(queue.next(5, 10)).containsExactly(again);
    free(again);
    assertThat(queue.next(5, 10)).isEmpty();
    looks = 0;
    assertThat(queue.next(5, 10)).isEmpty();
    assertThat(looks).isZero();
    assertThat(queue.hasFresh(Long.MAX_VALUE)).isFalse();
  }

  @Test
  void shouldUndoTheLastThatCame() {
    Quarantined stays = add(0, 1, 1, 1);
    free(add(0, 2, 1, 2));
    queue.undoAdd();
    looks = 0;
    assertThat(queue.next(5, 10)).containsExactly(stays);
    assertThat(looks).as("each look is at a record").isLessThanOrEqualTo(2);
  }

  @Test
  void shouldLookAtABoundedNumberOfRecords() {
    for (int i = 0; i < 1000; i++) {
      add(i / 100, i % 100, i, 1);
    }
    queue.next(1, 500);
    looks = 0;
    assertThat(queue.next(1, 16)).hasSize(16);
    assertThat(looks).isLessThanOrEqualTo(4 * 16);
  }

  @Test
  void shouldTellPlacesApartWhateverTheirNumbersAre() {
    long slab = (1L << 56) - 1; // the largest that a queue takes
    int unit = SlabRange.SLAB_UNITS - 1;
    Quarantined last = add(slab, unit, -1, 1);
    Quarantined generation = add(slab, unit, Long.MIN_VALUE, 1);
    Quarantined first = add(0, 0, 0, 1);
    assertThat(queue.next(1, 10)).containsExactly(last, generation, first);
  }
}
