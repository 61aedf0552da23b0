package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checkpoints whose pages stay while others are made, and what that changes for entries. */
class HeldCheckpointTest {
  private static final int PAGES = 1024;

  /** A held checkpoint, and what it must be. */
  private record Expected(HeldCheckpoint held, Model model) {}

  /** A change of one key, the same in both stores. */
  private record Change(int tree, byte[] key, byte[] value) {
    static Change random(Random random) {
      return new Change(
          random.nextInt(Store.SHARDS + 1),
          PagedStoreTest.key(random, 4),
          random.nextInt(4) == 0 ? null : PagedStoreTest.value(random));
    }

    boolean apply(PagedStore store) {
      OrderedMap map = Model.map(store, tree);
      return value == null ? map.remove(key) : catchThrowable(() -> map.put(key, value)) == null;
    }
  }

  /** The store in a zone that has nothing but the pages and the roots of {@code held}. */
  private static PagedStore copied(PageMemory from, HeldCheckpoint held) throws TakoException {
    ByteBuffer to = ByteBuffer.allocateDirect(from.pages() * Layout.PAGE_SIZE);
    held.pages().stream()
        .forEach(
            page ->
                to.put(
                    page * Layout.PAGE_SIZE,
                    from.buffer(page),
                    from.offset(page),
                    Layout.PAGE_SIZE));
    to.put(0, held.encoded(), 0, Layout.CHECKPOINT_SIZE);
    return PagedStore.open(PageMemory.of(to));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldKeepItsPagesAsLongAsItIsHeld(long seed) throws Exception {
    Random random = new Random(seed);
    PageMemory memory = PagedStoreTest.memory(4 * PAGES);
    PagedStore store = PagedStore.open(memory);
    Model model = new Model();
    Model checkpointed = new Model();
    Model frozen = null;
    List<Expected> holds = new ArrayList<>();
    int compared = 0;
    for (int op = 1; op <= 30_000; op++) {
      Change change = Change.random(random);
      if (change.value == null || store.hasRoom(1)) {
        change.apply(store);
        if (change.value == null) {
          model.tree(change.tree).remove(change.key);
        } else {
          model.tree(change.tree).put(change.key, change.value);
        }
      }
      if (frozen == null && random.nextInt(300) == 0) {
        store.beginCheckpoint(op);
        frozen = new Model(model);
      }
      boolean finished = store.advanceCheckpoint(random.nextInt(3));
      if (finished && frozen != null) {
        checkpointed = frozen;
        frozen = null;
      }
      if (store.checkpointDue()) {
        store.checkpoint(op);
        checkpointed = new Model(model);
        frozen = null;
      }
      if (random.nextInt(500) == 0 && holds.size() < 4) {
        holds.add(new Expected(store.hold(), checkpointed));
        assertThat(holds.get(holds.size() - 1).held.index()).isEqualTo(store.checkpointIndex());
      }
      if (random.nextInt(700) == 0 && !holds.isEmpty()) {
        Expected one = holds.remove(random.nextInt(holds.size()));
        if (one.held.isHeld()) {
          String what = "seed " + seed + ", held at " + one.held.index() + ", op " + op;
          PagedStore copy = copied(memory, one.held);
          assertThat(copy.checkpointIndex()).as(what).isEqualTo(one.held.index());
          one.model.assertEquals(copy, what);
          compared++;
        }
        one.held.close();
        assertThat(one.held.isHeld()).isFalse();
      }
    }
    assertThat(compared).isGreaterThan(20);
  }

  /** Whatever is held, entries are decided alike, and checkpoints are due at the same time. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void shouldDecideAsIfNothingWasHeld(long seed) throws Exception {
    Random random = new Random(seed);
    PageMemory plainMemory = PagedStoreTest.memory(PAGES);
    PagedStore plain = PagedStore.open(plainMemory);
    PageMemory memory = PagedStoreTest.memory(PAGES);
    PagedStore holding = PagedStore.open(memory);
    List<HeldCheckpoint> holds = new ArrayList<>();
    int broken = 0;
    int closed = 0;
    int refused = 0;
    for (int op = 1; op <= 30_000; op++) {
      String what = "seed " + seed + ", op " + op;
      boolean due = plain.checkpointDue();
      assertThat(holding.checkpointDue()).as(what).isEqualTo(due);
      if (due || random.nextInt(1000) == 0) {
        plain.checkpoint(op);
        holding.checkpoint(op);
        // A restart finds what was held free.
        if (random.nextInt(20) == 0) {
          holds.clear();
          plain = PagedStore.open(plainMemory);
          holding = PagedStore.open(memory);
        }
      }
      if (random.nextInt(200) == 0) {
        holds.add(holding.hold());
      }
      if (random.nextInt(400) == 0 && !holds.isEmpty()) {
        HeldCheckpoint one = holds.remove(random.nextInt(holds.size()));
        broken += one.isHeld() ? 0 : 1;
        closed += one.isHeld() ? 1 : 0;
        one.close();
      }
      plain.beginEntry();
      holding.beginEntry();
      int changes = 1 + random.nextInt(40);
      assertThat(holding.hasRoom(changes)).as(what).isEqualTo(plain.hasRoom(changes));
      boolean taken = plain.take(changes, changes / 2);
      assertThat(holding.take(changes, changes / 2)).as(what).isEqualTo(taken);
      Change change = Change.random(random);
      boolean applied = change.apply(plain);
      assertThat(change.apply(holding)).as(what).isEqualTo(applied);
      refused += applied || change.value == null ? 0 : 1;
      assertThat(holding.pagesUsed()).as(what).isEqualTo(plain.pagesUsed());
    }
    assertThat(broken).isPositive();
    assertThat(closed).isPositive();
    assertThat(refused).isPositive();
  }

  private static byte[] key(Random random) {
    byte[] key = new byte[9];
    random.nextBytes(key);
    return key;
  }

  /** Fills the store until no more may be added; returns its keys in no order. */
  private static List<byte[]> fill(PagedStore store, Random random) throws TakoException {
    List<byte[]> keys = new ArrayList<>();
    while (store.hasRoom(1)) {
      byte[] key = key(random);
      store.server().put(key, new byte[300]);
      keys.add(key);
      if (store.checkpointDue()) {
        store.checkpoint(1);
      }
    }
    store.checkpoint(1);
    return keys;
  }

  /** Entry after entry takes all pages that one may have, in a full store whose pages are held. */
  @Test
  void shouldHavePagesForTheLargestEntriesOfAFullStore() throws Exception {
    Random random = new Random(1);
    PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
    List<byte[]> keys = fill(store, random);
    List<HeldCheckpoint> holds = new ArrayList<>();
    int replaced = 0;
    for (int entry = 0; entry < 300; entry++) {
      holds.add(store.hold());
      if (store.checkpointDue()) {
        store.checkpoint(entry);
      }
      store.beginEntry();
      while (store.take(1, 1)) {
        store.server().put(keys.get(random.nextInt(keys.size())), new byte[300]);
        replaced++;
      }
    }
    assertThat(replaced).isGreaterThan(3000);
    assertThat(holds.stream().filter(HeldCheckpoint::isHeld).count()).isLessThan(300);
  }

  @Test
  void shouldBreakTheOldestFirstAndNoMoreThanNeeded() throws Exception {
    Random random = new Random(2);
    PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
    List<byte[]> keys = fill(store, random);
    List<HeldCheckpoint> holds = new ArrayList<>();
    int mostHeld = 0;
    for (int op = 0; op < 5000; op++) {
      if (op % 40 == 0) {
        store.checkpoint(op);
        holds.add(store.hold());
      }
      store.server().put(keys.get(random.nextInt(keys.size())), new byte[300]);
      int oldest = 0;
      while (!holds.get(oldest).isHeld()) {
        oldest++;
      }
      assertThat(holds.subList(oldest, holds.size())).allMatch(HeldCheckpoint::isHeld);
      mostHeld = Math.max(mostHeld, holds.size() - oldest);
    }
    assertThat(holds.get(0).isHeld()).isFalse();
    assertThat(mostHeld).isGreaterThan(1);
  }

  @Test
  void shouldFreeWhatWasHeldWhenItIsClosed() throws Exception {
    Random random = new Random(3);
    PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
    List<byte[]> keys = fill(store, random);
    for (int round = 0; round < 200; round++) {
      HeldCheckpoint one = store.hold();
      HeldCheckpoint other = store.hold();
      for (int i = 0; i < 20; i++) {
        store.server().put(keys.get(random.nextInt(keys.size())), new byte[300]);
      }
      store.checkpoint(round);
      // So few changed that there were enough free pages, unless those of earlier rounds are lost.
      assertThat(one.isHeld()).as("round " + round).isTrue();
      assertThat(other.isHeld()).as("round " + round).isTrue();
      one.close();
      other.close();
      other.close();
    }
  }

  /** A checkpoint that begins in time gives a hold its room, instead of breaking it. */
  @Test
  void shouldOutliveManyChangesWhereThereIsRoom() throws Exception {
    Random random = new Random(4);
    PagedStore store = PagedStore.open(PagedStoreTest.memory(8 * PAGES));
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 60_000; i++) {
      keys.add(key(random));
      store.server().put(keys.get(i), new byte[300]);
    }
    store.checkpoint(1);
    HeldCheckpoint held = store.hold();
    for (int op = 0; op < 100_000; op++) {
      store.server().put(keys.get(random.nextInt(keys.size())), new byte[300]);
      assertThat(store.checkpointDue()).isFalse();
      if (store.checkpointWanted()) {
        store.beginCheckpoint(op);
      }
      store.advanceCheckpoint(8);
    }
    assertThat(store.checkpointIndex()).isGreaterThan(1);
    assertThat(held.isHeld()).isTrue();
  }
}
