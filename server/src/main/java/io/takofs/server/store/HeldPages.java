package io.takofs.server.store;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The pages that would be free if no checkpoint was held: those that a later checkpoint no longer
 * has, and a held one has.
 *
 * <p>Thread rule: the store's thread.
 */
final class HeldPages {
  private final List<HeldCheckpoint> holds = new ArrayList<>(); // oldest first
  private final BitSet kept = new BitSet();
  private int size;

  void add(HeldCheckpoint hold) {
    holds.add(hold);
  }

  /** Pages that are kept for holds alone. */
  int size() {
    return size;
  }

  /** Keeps {@code page}, which the last checkpoint no longer has, if a held one has it. */
  boolean keep(int page) {
    boolean has = holds.stream().anyMatch(hold -> hold.pages().get(page));
    if (has) {
      kept.set(page);
      size++;
    }
    return has;
  }

  /** Ends {@code hold} and adds what nobody else holds to {@code free}. */
  void release(HeldCheckpoint hold, IntList free) {
    if (!holds.remove(hold)) {
      return;
    }
    hold.end();
    BitSet given = (BitSet) hold.pages().clone();
    given.and(kept);
    holds.forEach(other -> given.andNot(other.pages()));
    kept.andNot(given);
    size -= given.cardinality();
    given.stream().forEach(free::add);
  }

  /** Breaks holds, the oldest first, until a page is free or nothing is held. */
  void breakUntilFree(IntList free) {
    while (free.size() == 0 && !holds.isEmpty()) {
      release(holds.get(0), free);
    }
  }
}
