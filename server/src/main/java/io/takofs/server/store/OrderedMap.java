package io.takofs.server.store;

import io.takofs.base.TakoException;
import java.util.Arrays;
import java.util.BitSet;

/**
 * An ordered map of byte strings: one per shard. Keys compare as unsigned bytes.
 *
 * <p>Thread rule: the state machine's thread.
 */
public interface OrderedMap {
  /** Longest key and longest value, bytes. */
  int KEY_MAX = 320;

  int VALUE_MAX = 2560;

  /** The value of {@code key}, or null. The caller may keep and change it. */
  byte[] get(byte[] key);

  /**
   * Adds or replaces.
   *
   * @throws TakoException with status NO_SPACE when no page is left; nothing has changed then
   */
  void put(byte[] key, byte[] value) throws TakoException;

  /** Removes; returns whether it was there. Never needs space beyond what checkpoints reserve. */
  boolean remove(byte[] key);

  /** Adds the pages that a change of {@code key} may write, as they are now, to {@code pages}. */
  default void addPagesOf(byte[] key, BitSet pages) {}

  /**
   * Visits entries in key order from the first that is {@code >= from} until the visitor returns
   * false or the map ends. The visitor must not change the map.
   */
  void scan(byte[] from, Visitor visitor);

  /** As {@link #scan}, but ends before the first key that does not begin with {@code prefix}. */
  default void scanPrefix(byte[] prefix, byte[] from, Visitor visitor) {
    scan(
        from,
        (key, value) ->
            key.length >= prefix.length
                && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length)
                && visitor.visit(key, value));
  }

  /** Visits all entries whose keys begin with {@code prefix}, in key order. */
  default void scanPrefix(byte[] prefix, Visitor visitor) {
    scanPrefix(prefix, prefix, visitor);
  }

  /** Receives the entries of a scan. */
  @FunctionalInterface
  interface Visitor {
    /** Returns whether to go on. The arrays are the visitor's to keep. */
    boolean visit(byte[] key, byte[] value);
  }
}
