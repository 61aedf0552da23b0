package io.takofs.sim.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Runs the simulation with many seeds; {@code bin/tako-sim} calls it.
 *
 * <p>Thread rule: {@link #runAll} by any number of threads; each seed is one thread's.
 */
final class ManySeeds {
  private final long first;
  private final long count;
  private final int steps;
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong takeovers = new AtomicLong();
  private final AtomicLong virtualNs = new AtomicLong();

  private ManySeeds(long first, long count, int steps) {
    this.first = first;
    this.count = count;
    this.steps = steps;
  }

  /**
   * Prints a line for each seed that fails and a summary, and ends with 1 when one failed.
   *
   * @param args the first seed; how many; steps of a user; threads
   */
  public static void main(String[] args) throws InterruptedException, ExecutionException {
    ManySeeds seeds =
        new ManySeeds(Long.parseLong(args[0]), Long.parseLong(args[1]), Integer.parseInt(args[2]));
    long beginNs = System.nanoTime();
    seeds.runWith(Integer.parseInt(args[3]));
    seeds.printSummary(System.nanoTime() - beginNs);
    System.exit(seeds.failed.get() == 0 ? 0 : 1);
  }

  private void runWith(int threads) throws InterruptedException, ExecutionException {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      ends.add(executor.submit(this::runAll));
    }
    executor.shutdown();
    for (Future<?> end : ends) {
      end.get();
    }
  }

  /** Runs seeds until all are taken. */
  private void runAll() {
    long next = taken.getAndIncrement();
    while (next < count) {
      run(first + next);
      next = taken.getAndIncrement();
    }
  }

  private void run(long seed) {
    try {
      GroupLogSimulation.Result result = new GroupLogSimulation(seed, steps, Set.of()).run();
      acknowledged.addAndGet(result.acknowledged());
      takeovers.addAndGet(result.takeovers());
      virtualNs.addAndGet(result.virtualNs());
    } catch (AssertionError e) {
      failed.incrementAndGet();
      System.out.println(
          "FAILED: " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    } catch (Error e) {
      failed.incrementAndGet();
      System.out.println("FAILED: seed " + seed + ": " + e);
    }
  }

  private void printSummary(long tookNs) {
    System.out.printf(
        "%d seeds from %d, %d steps: %d failed, %d values acknowledged and %d checkpoints taken over"
            + " in %d virtual seconds%n",
        count,
        first,
        steps,
        failed.get(),
        acknowledged.get(),
        takeovers.get(),
        TimeUnit.NANOSECONDS.toSeconds(virtualNs.get()));
    System.out.printf("%.1f seeds a second%n", count * 1e9 / tookNs);
  }
}
