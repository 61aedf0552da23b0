package io.takofs.sim.log;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The durable checkpoint of a member, which outlives its process: what was delivered up to an
 * index, or nothing while that of another member is being read into its place.
 */
final class SimCheckpoint {
  private final NavigableMap<Long, Long> values = new TreeMap<>();
  private long index;
  private boolean incomplete;
  private int number; // of those that were here and are no part of one another

  /** The checkpoint of another member as it was when it was asked for. */
  record Held(Map<Long, Long> values, long index, int number) {}

  /** Entries up to here are in it; 0 for none. */
  long index() {
    return index;
  }

  /** Whether there is none, not even an empty one. */
  boolean isIncomplete() {
    return incomplete;
  }

  /** Returns its entries by index. */
  Map<Long, Long> values() {
    return values;
  }

  Held hold() {
    return new Held(new TreeMap<>(values), index, number);
  }

  /** Whether the pages of {@code held}, which was held here, may still be here. */
  boolean has(Held held) {
    return number == held.number;
  }

  /** Now it has all of {@code delivered} up to {@code last}. */
  void extend(NavigableMap<Long, Long> delivered, long last) {
    values.putAll(delivered.subMap(index, false, last, true));
    index = last;
  }

  /** Nothing is left of it. */
  void begin() {
    values.clear();
    index = 0;
    incomplete = true;
    number++;
  }

  /** It is {@code other}. */
  void finish(Held other) {
    values.putAll(other.values);
    index = other.index;
    incomplete = false;
  }

  /** It is that of a new server. */
  void format() {
    values.clear();
    index = 0;
    incomplete = false;
    number++;
  }
}
