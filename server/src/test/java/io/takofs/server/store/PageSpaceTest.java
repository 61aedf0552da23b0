package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The limits of the page space, which do not depend on checkpoints. */
class PageSpaceTest {
  /** The smallest page zone of a pool. */
  private static final int PAGES = 1024;

  private static byte[] key(int length, long number) {
    byte[] key = new byte[length];
    for (int i = 0; i < length; i++) {
      key[i] = (byte) (i < length - 8 ? 'k' : (number >>> (8 * (length - 1 - i))));
    }
    return key;
  }

  /**
   * Each checkpoint of {@code store} has another summary, of up to as many pages as it may have.
   */
  private static void summarize(PagedStore store, long seed) {
    Random random = new Random(seed);
    store.onCheckpoint(
        () -> {
          for (int record = 0; record < 700; record++) {
            if (random.nextInt(4) == 0) {
              store.summary().remove(key(9, record));
            } else {
              store.summary().put(key(9, record), new byte[random.nextInt(64)]);
            }
          }
        });
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldDecideAlikeWhenCheckpointsAreTakenAtOtherTimes(long seed) throws Exception {
    Random random = new Random(seed);
    PagedStore often = PagedStore.open(PagedStoreTest.memory(PAGES));
    PageMemory memory = PagedStoreTest.memory(PAGES);
    PagedStore seldom = PagedStore.open(memory);
    summarize(often, random.nextLong());
    summarize(seldom, random.nextLong());
    int refused = 0;
    for (int op = 0; op < 40_000; op++) {
      String what = "seed " + seed + ", op " + op;
      int tree = random.nextInt(Store.SHARDS + 1);
      byte[] key = PagedStoreTest.key(random, 4);
      int changes = 1 + random.nextInt(40);
      boolean room = often.hasRoom(changes);
      assertThat(seldom.hasRoom(changes)).as(what).isEqualTo(room);
      if (random.nextInt(4) > 0) {
        byte[] value = PagedStoreTest.value(random);
        Throwable one = catchThrowable(() -> Model.map(often, tree).put(key, value));
        OrderedMap map = Model.map(seldom, tree);
        Throwable two = catchThrowable(() -> map.put(key, value));
        assertThat(one == null).as(what).isEqualTo(two == null);
        refused += one == null ? 0 : 1;
      } else {
        assertThat(Model.map(often, tree).remove(key))
            .isEqualTo(Model.map(seldom, tree).remove(key));
      }
      assertThat(often.pagesUsed()).as(what).isEqualTo(seldom.pagesUsed());
      if (op % 50 == 0 || often.checkpointDue()) {
        often.checkpoint(op);
      }
      if (seldom.checkpointDue()) {
        seldom.checkpoint(op);
        seldom = PagedStore.open(memory);
        summarize(seldom, op);
      }
    }
    assertThat(refused).isPositive();
  }

  @Test
  void shouldRefuseBeforeAnythingHasChangedAndAcceptAfterRemoves() throws Exception {
    for (long seed = 1; seed <= 2; seed++) {
      Random random = new Random(seed);
      PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
      Model model = new Model();
      for (int round = 0; round < 3; round++) {
        int refused = 0;
        while (refused < 20) {
          int tree = random.nextInt(10);
          byte[] key = PagedStoreTest.key(random, 200);
          byte[] value = PagedStoreTest.value(random);
          Throwable thrown = catchThrowable(() -> Model.map(store, tree).put(key, value));
          if (thrown == null) {
            model.tree(tree).put(key, value);
          } else {
            assertThat(((TakoException) thrown).status()).isEqualTo(Status.NO_SPACE);
            assertThat(thrown.getMessage()).contains("page zone is full");
            assertThat(store.hasRoom(1)).isFalse();
            refused++;
          }
          checkpointIfDue(store);
        }
        model.assertEquals(store, "seed " + seed + ", full");
        for (int tree = 0; tree < 10; tree++) {
          List<byte[]> keys = new ArrayList<>(model.tree(tree).keySet());
          for (byte[] key : keys.subList(0, keys.size() / 2)) {
            assertThat(Model.map(store, tree).remove(key)).isTrue();
            model.tree(tree).remove(key);
            checkpointIfDue(store);
          }
        }
        model.assertEquals(store, "seed " + seed + ", half empty");
        assertThat(store.hasRoom(100)).isTrue();
      }
    }
  }

  private static void checkpointIfDue(Store store) {
    if (store.checkpointDue()) {
      store.checkpoint(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {9, 100, OrderedMap.KEY_MAX})
  void shouldKeepItsWordWhenItHasRoom(int keyLength) throws Exception {
    Random random = new Random(keyLength);
    PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
    int changes = Store.CHANGES_PER_CHECK;
    int groups = 0;
    for (; store.hasRoom(changes); groups++) {
      for (int i = 0; i < changes; i++) {
        putOne(store, keyLength, random);
      }
      checkpointIfDue(store);
    }
    assertThat(groups).isGreaterThan(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {9, 100, OrderedMap.KEY_MAX})
  void shouldRemoveFromAFullStoreAsManyAsOneCheckAllows(int keyLength) throws Exception {
    for (long seed = 1; seed <= 3; seed++) {
      Random random = new Random(seed);
      PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
      try {
        while (true) {
          putOne(store, keyLength, random);
          checkpointIfDue(store);
        }
      } catch (TakoException e) {
        assertThat(e.status()).isEqualTo(Status.NO_SPACE);
      }
      for (int round = 0; store.pagesUsed() > 0; round++) {
        checkpointIfDue(store);
        for (int i = 0; i < Store.CHANGES_PER_CHECK; i++) {
          removeOne(store.shard((round + 2 * i) % Store.SHARDS), random);
        }
      }
    }
  }

  private static void putOne(Store store, int keyLength, Random random) throws TakoException {
    byte[] value = new byte[random.nextInt(2) * OrderedMap.VALUE_MAX];
    store.shard(random.nextInt(Store.SHARDS)).put(key(keyLength, random.nextLong()), value);
  }

  private static void removeOne(OrderedMap map, Random random) {
    byte[][] found = {null};
    byte[] from = key(9, random.nextLong());
    for (byte[] start : new byte[][] {from, {}}) {
      map.scan(
          start,
          (key, value) -> {
            found[0] = key;
            return false;
          });
    }
    if (found[0] != null) {
      assertThat(map.remove(found[0])).isTrue();
    }
  }

  @Test
  void shouldNeverMakeAnybodyWaitWhenCheckpointsBeginInTime() throws Exception {
    Random random = new Random(5);
    PagedStore store = PagedStore.open(PagedStoreTest.memory(8 * PAGES));
    int finished = 0;
    for (int op = 0; op < 300_000; op++) {
      store.shard(random.nextInt(Store.SHARDS)).put(key(9, random.nextInt(400)), new byte[300]);
      assertThat(store.checkpointDue()).as("op " + op).isFalse();
      if (op == 50_000 || store.checkpointWanted()) {
        store.beginCheckpoint(op);
      }
      long before = store.checkpointIndex();
      store.advanceCheckpoint(8);
      finished += store.checkpointIndex() > before ? 1 : 0;
    }
    assertThat(finished).isBetween(2, 2000);
  }

  @Test
  void shouldPackKeysThatComeInOrder() throws Exception {
    PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
    int entries = 30_000;
    for (int i = 0; i < entries; i++) {
      store.server().put(key(29, i), new byte[100]);
      checkpointIfDue(store);
    }
    assertThat(store.pagesUsed() * 8192.0 / entries).isLessThan(150);
  }

  @Test
  void shouldNotFragmentWhenValuesChangeTheirLengths() throws Exception {
    Random random = new Random(3);
    PagedStore store = PagedStore.open(PagedStoreTest.memory(PAGES));
    int entries = 10_000;
    for (int i = 0; i < 300_000; i++) {
      int entry = random.nextInt(entries);
      store.server().put(key(20, entry), new byte[random.nextInt(200)]);
      checkpointIfDue(store);
    }
    assertThat(store.pagesUsed() * 8192.0 / entries).isLessThan(2 * 120);
    for (int i = 0; i < entries; i++) {
      if (i % 20 != 0) {
        store.server().remove(key(20, i));
        checkpointIfDue(store);
      }
    }
    assertThat(store.pagesUsed() * 8192.0 / (entries / 20.0)).isLessThan(3 * 120);
  }
}
