package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** An entry changes no more pages than are kept for one. */
class EntryPagesTest {
  private static final int PAGES = 1024;

  /** Keys that a page has at most, and one: keys so far apart are in pages of their own. */
  private static final int APART = 27;

  private PagedStore store;
  private final List<byte[]> keys = new ArrayList<>();
  private final List<Integer> order = new ArrayList<>();

  /** A full store, just after a checkpoint, and an order of its keys that is not theirs. */
  private void fill() throws Exception {
    store = PagedStore.open(PagedStoreTest.memory(PAGES));
    Random random = new Random(1);
    while (store.hasRoom(1)) {
      byte[] key = new byte[9];
      random.nextBytes(key);
      store.server().put(key, new byte[300]);
      keys.add(key);
      if (store.checkpointDue()) {
        store.checkpoint(1);
      }
    }
    store.checkpoint(1);
    for (int i = 0; i < keys.size(); i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
  }

  /** Replaces values in one transaction; returns whether the entry still had pages for it. */
  private boolean replace(int from, int to) {
    Transaction transaction = new Transaction(store);
    order
        .subList(from, to)
        .forEach(i -> transaction.replace(store.server(), keys.get(i), new byte[300]));
    try {
      transaction.commit(0);
      return true;
    } catch (TakoException e) {
      assertThat(transaction.isTooLarge()).isTrue();
      transaction.abort();
      return false;
    }
  }

  /** Writes pages until a checkpoint is due or {@code limit} keys are written. */
  private int spend(int limit) throws Exception {
    int written = 0;
    while (written < limit && !store.checkpointDue()) {
      byte[] key = keys.get(order.get(order.size() - 1 - written++));
      store.server().put(key, new byte[300]);
    }
    return written;
  }

  @Test
  void shouldRefuseSmallChangesAfterALargeOne() throws Exception {
    fill();
    keys.sort(Arrays::compareUnsigned);
    order.removeIf(i -> i % APART != 0);
    int spent = spend(Integer.MAX_VALUE);
    store.checkpoint(1);
    spend(spent - 1);
    assertThat(store.checkpointDue()).isFalse();
    store.beginEntry();
    int replaced = 300;
    while (!replace(0, replaced)) {
      replaced -= 10;
    }
    int steps = 0;
    while (replace(replaced, replaced + 2)) {
      assertThat(++steps).isLessThan(64);
      replaced += 2;
    }
    assertThat(steps).isPositive(); // the record of a result finds pages
    store.checkpoint(1);
    store.beginEntry();
    assertThat(replace(replaced, replaced + 2)).isTrue();
  }

  @Test
  void shouldRefuseAnEntryThatChangesMorePagesThanAreKept() throws Exception {
    fill();
    long used = store.pagesUsed();
    store.beginEntry();
    Transaction large = new Transaction(store);
    order.subList(0, 1500).forEach(i -> large.remove(store.server(), keys.get(i)));
    assertThatThrownBy(() -> large.commit(0))
        .hasFieldOrPropertyWithValue("status", Status.NO_SPACE);
    large.abort();
    assertThat(store.pagesUsed()).isEqualTo(used);
    // Small ones of one entry are refused when they are too many together.
    store.beginEntry();
    int removed = 0;
    try {
      while (true) {
        Transaction small = new Transaction(store);
        for (int i : order.subList(removed, removed + 4)) {
          small.remove(store.server(), keys.get(i));
        }
        small.commit(0);
        removed += 4;
      }
    } catch (TakoException e) {
      assertThat(e.status()).isEqualTo(Status.NO_SPACE);
    }
    assertThat(removed).isBetween(16, 1000);
    // Entry after entry all can be removed.
    while (removed < keys.size()) {
      if (store.checkpointDue()) {
        store.checkpoint(1);
      }
      store.beginEntry();
      Transaction next = new Transaction(store);
      int end = Math.min(keys.size(), removed + 32);
      for (int i : order.subList(removed, end)) {
        next.remove(store.server(), keys.get(i));
      }
      next.commit(0);
      removed = end;
    }
    assertThat(store.pagesUsed()).isZero();
  }
}
