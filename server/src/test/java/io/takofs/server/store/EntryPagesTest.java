package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** An entry changes no more pages than are kept for one. */
class EntryPagesTest {
  private static final int PAGES = 1024;

  @Test
  void shouldRefuseAnEntryThatChangesMorePagesThanAreKept() throws Exception {
    PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
    Random random = new Random(1);
    List<byte[]> keys = new ArrayList<>();
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
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
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
