package io.takofs.sim;

import java.util.EnumMap;
import java.util.Map;
import java.util.Random;

/**
 * The faults of one run: a random subset of all, each with a random weight. Runs with few kinds of
 * faults get further into what those cause than runs with all, which hide each other's effects.
 */
public final class Swarm {
  private static final int WEIGHT_MAX = 8;

  private final Map<Fault, Integer> weights = new EnumMap<>(Fault.class);
  private final int sum;

  public Swarm(Random random) {
    for (Fault fault : Fault.values()) {
      int weight = 1 + random.nextInt(WEIGHT_MAX);
      if (random.nextBoolean()) {
        weights.put(fault, weight);
      }
    }
    if (weights.isEmpty()) {
      weights.put(Fault.KILL_SERVER, 1);
    }
    sum = weights.values().stream().mapToInt(Integer::intValue).sum();
  }

  public boolean has(Fault fault) {
    return weights.containsKey(fault);
  }

  /** One of the faults, by their weights. */
  Fault pick(Random random) {
    int at = random.nextInt(sum);
    for (Map.Entry<Fault, Integer> entry : weights.entrySet()) {
      at -= entry.getValue();
      if (at < 0) {
        return entry.getKey();
      }
    }
    throw new AssertionError("the weights do not sum up to " + sum);
  }

  @Override
  public String toString() {
    return weights.toString();
  }
}
