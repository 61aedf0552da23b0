package io.takofs.sim.log;

import java.util.Set;

/** Runs the simulation with many seeds; {@code bin/tako-sim} calls it. */
final class ManySeeds {
  private ManySeeds() {}

  /**
   * Prints a line for each seed that fails and a summary, and ends with 1 when one failed.
   *
   * @param args the first seed; how many; steps of a user
   */
  public static void main(String[] args) {
    long first = Long.parseLong(args[0]);
    long count = Long.parseLong(args[1]);
    int steps = Integer.parseInt(args[2]);
    long failed = 0;
    long acknowledged = 0;
    long virtualNs = 0;
    for (long seed = first; seed < first + count; seed++) {
      try {
        GroupLogSimulation.Result result = new GroupLogSimulation(seed, steps, Set.of()).run();
        acknowledged += result.acknowledged();
        virtualNs += result.virtualNs();
      } catch (AssertionError e) {
        failed++;
        System.out.println(
            "FAILED: " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
      }
    }
    System.out.printf(
        "%d seeds from %d, %d steps: %d failed, %d values acknowledged in %d virtual seconds%n",
        count, first, steps, failed, acknowledged, virtualNs / 1_000_000_000);
    System.exit(failed == 0 ? 0 : 1);
  }
}
