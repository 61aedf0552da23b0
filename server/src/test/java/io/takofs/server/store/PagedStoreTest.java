package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PagedStoreTest {
  private static final int PAGES = 4096;

  static PageMemory memory(int pages) {
    PageMemory memory = PageMemory.of(ByteBuffer.allocateDirect(pages * Layout.PAGE_SIZE));
    PagedStore.format(memory);
    return memory;
  }

  /** Random keys that share prefixes, end early, are empty, long, or of zeros. */
  static byte[] key(Random random, int spread) {
    int kind = random.nextInt(10);
    int length = kind == 0 ? random.nextInt(OrderedMap.KEY_MAX + 1) : random.nextInt(24);
    byte[] key = new byte[length];
    random.nextBytes(key);
    for (int i = 0; i < length; i++) {
      int range = i < 12 ? 2 : spread;
      key[i] = (byte) (kind == 1 ? 0 : (key[i] & 0xff) % range - (kind == 2 ? 1 : 0));
    }
    return key;
  }

  static byte[] value(Random random) {
    int length =
        random.nextInt(20) == 0
            ? OrderedMap.VALUE_MAX - random.nextInt(2)
            : random.nextInt(random.nextInt(4) == 0 ? 600 : 60);
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void shouldBehaveLikeSortedMaps(long seed) throws Exception {
    Random random = new Random(seed);
    int trees = seed % 2 == 0 ? 1 : 1 + random.nextInt(Store.SHARDS);
    PageMemory memory = memory(PAGES);
    PagedStore store = PagedStore.open(memory);
    Model model = new Model();
    for (int op = 0; op < 40_000; op++) {
      int tree = Store.SHARDS - random.nextInt(trees);
      OrderedMap map = Model.map(store, tree);
      NavigableMap<byte[], byte[]> expected = model.tree(tree);
      byte[] key = key(random, 5);
      boolean growing = op / 10_000 % 2 == 0;
      int dice = random.nextInt(10);
      String what = "seed " + seed + ", op " + op;
      if (dice < (growing ? 5 : 2)) {
        byte[] value = value(random);
        if (store.hasRoom(1)) {
          map.put(key, value);
          expected.put(key, value);
        }
      } else if (dice < 8) {
        Map.Entry<byte[], byte[]> near = expected.ceilingEntry(key);
        byte[] target = near == null || random.nextInt(4) == 0 ? key : near.getKey();
        assertThat(map.remove(target)).as(what).isEqualTo(expected.remove(target) != null);
      } else if (dice < 9) {
        assertThat(map.get(key)).as(what).isEqualTo(expected.get(key));
      } else {
        assertScan(map, expected, key, random.nextInt(30), what);
      }
      if (store.checkpointDue()) {
        store.checkpoint(op);
      } else if (random.nextInt(2000) == 0) {
        store.beginCheckpoint(op);
      }
      store.advanceCheckpoint(random.nextInt(3));
      if (op % 10_000 == 9_999) {
        model.assertEquals(store, what);
      }
    }
    store.checkpoint(99);
    PagedStore reopened = PagedStore.open(memory);
    assertThat(reopened.checkpointIndex()).isEqualTo(99);
    assertThat(reopened.pagesUsed()).isEqualTo(store.pagesUsed());
    model.assertEquals(reopened, "seed " + seed + ", reopened");
  }

  /** Groups of keys that begin alike, as directories make them, joined everywhere in a page. */
  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void shouldSplitPagesOfRunsOfLongKeysAndLargeValues(long seed) throws Exception {
    Random random = new Random(seed);
    PagedStore store = PagedStore.open(memory(PAGES));
    Model model = new Model();
    int name = seed % 2 == 0 ? 2 : OrderedMap.KEY_MAX - 9;
    for (int op = 0; op < 20_000; op++) {
      byte[] key = new byte[9 + random.nextInt(name + 1)];
      Arrays.fill(key, (byte) random.nextInt(30));
      for (int i = random.nextInt(3); i > 0 && key.length > 9; i--) {
        key[9 + random.nextInt(key.length - 9)] = (byte) random.nextInt(256);
      }
      int kind = random.nextInt(8);
      byte[] value =
          new byte[kind == 0 ? OrderedMap.VALUE_MAX : kind == 1 ? random.nextInt(2560) : kind];
      if (random.nextInt(3) > 0 && store.hasRoom(1)) {
        store.server().put(key, value);
        model.tree(Store.SHARDS).put(key, value);
      } else {
        byte[] near = model.tree(Store.SHARDS).ceilingKey(key);
        byte[] target = near == null ? key : near;
        assertThat(store.server().remove(target))
            .isEqualTo(model.tree(Store.SHARDS).remove(target) != null);
      }
      checkpointIfDue(store, op);
    }
    model.assertEquals(store, "seed " + seed);
  }

  private static void assertScan(
      OrderedMap map, NavigableMap<byte[], byte[]> expected, byte[] from, int limit, String what) {
    var entries = expected.tailMap(from).entrySet().iterator();
    int[] left = {limit};
    map.scan(
        from,
        (key, value) -> {
          Map.Entry<byte[], byte[]> entry = entries.next();
          if (!Arrays.equals(key, entry.getKey()) || !Arrays.equals(value, entry.getValue())) {
            throw new AssertionError(what + ": scan differs");
          }
          return left[0]-- > 0;
        });
    assertThat(left[0] < 0 || !entries.hasNext()).as(what + ": scan ended early").isTrue();
  }

  @Test
  void shouldFreeEverythingWhenEverythingIsRemoved() throws Exception {
    for (long seed = 1; seed <= 4; seed++) {
      Random random = new Random(seed);
      PagedStore store = PagedStore.open(memory(PAGES));
      Model model = new Model();
      for (int i = 0; store.hasRoom(1); i++) {
        int tree = random.nextInt(3);
        byte[] key = key(random, 200);
        byte[] value = value(random);
        Model.map(store, tree).put(key, value);
        model.tree(tree).put(key, value);
        checkpointIfDue(store, i);
      }
      assertThat(store.pagesUsed()).isGreaterThan(store.pagesTotal() * 9 / 10);
      for (int tree = 0; tree < 3; tree++) {
        var keys = new ArrayList<>(model.tree(tree).keySet());
        if (seed % 2 == 0) {
          Collections.shuffle(keys, random);
        }
        for (byte[] key : keys) {
          assertThat(Model.map(store, tree).remove(key)).as("seed " + seed).isTrue();
          checkpointIfDue(store, 1);
        }
      }
      assertThat(store.pagesUsed()).as("seed " + seed).isZero();
      store.checkpoint(2);
      assertThat(store.hasRoom(1000)).isTrue();
    }
  }

  private static void checkpointIfDue(Store store, long index) {
    if (store.checkpointDue()) {
      store.checkpoint(index);
    }
  }
}
