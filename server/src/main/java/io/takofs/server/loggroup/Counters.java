package io.takofs.server.loggroup;

import java.util.Map;
import java.util.TreeMap;

/**
 * Numbers that only grow, by name, for people and tests.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class Counters {
  private final Map<String, long[]> values = new TreeMap<>();

  public void add(String name, long amount) {
    values.computeIfAbsent(name, any -> new long[1])[0] += amount;
  }

  Map<String, Long> snapshot() {
    Map<String, Long> copy = new TreeMap<>();
    values.forEach((name, value) -> copy.put(name, value[0]));
    return copy;
  }
}
