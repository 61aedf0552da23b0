package io.takofs.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The expected content of a store: a sorted map of byte strings a tree. */
final class Model {
  private final List<TreeMap<byte[], byte[]>> trees = new ArrayList<>();

  Model() {
    for (int tree = 0; tree <= Store.SHARDS; tree++) {
      trees.add(new TreeMap<>(Arrays::compareUnsigned));
    }
  }

  Model(Model other) {
    for (TreeMap<byte[], byte[]> tree : other.trees) {
      trees.add(new TreeMap<>(tree));
    }
  }

  NavigableMap<byte[], byte[]> tree(int tree) {
    return trees.get(tree);
  }

  static OrderedMap map(Store store, int tree) {
    return tree < Store.SHARDS ? store.shard(tree) : store.server();
  }

  /** Fails unless {@code store} has this content, in order, and nothing else. */
  void assertEquals(Store store, String when) {
    for (int tree = 0; tree < trees.size(); tree++) {
      List<Map.Entry<byte[], byte[]>> expected = new ArrayList<>(trees.get(tree).entrySet());
      int[] seen = {0};
      String where = when + ", tree " + tree;
      map(store, tree)
          .scan(
              new byte[0],
              (key, value) -> {
                assertThat(seen[0]).as(where).isLessThan(expected.size());
                Map.Entry<byte[], byte[]> entry = expected.get(seen[0]++);
                if (!Arrays.equals(key, entry.getKey())
                    || !Arrays.equals(value, entry.getValue())) {
                  throw new AssertionError(where + ": entry " + (seen[0] - 1) + " differs");
                }
                return true;
              });
      assertThat(seen[0]).as(where).isEqualTo(expected.size());
    }
  }
}
