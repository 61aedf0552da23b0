package io.takofs.bench.log;

import java.util.SplittableRandom;

/**
 * Numbers of objects as YCSB draws them: ranks by a Zipf distribution, scattered over all objects.
 * They are drawn ahead, so that a run does not pay for that.
 *
 * <p>Thread rule: one thread.
 */
final class ZipfDraws {
  private static final double SKEW = 0.99;
  private static final int DRAWS = 1 << 20;

  private final int[] drawn = new int[DRAWS];
  private int next;

  ZipfDraws(int objects, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double zeta = 0;
    for (int rank = 1; rank <= objects; rank++) {
      zeta += 1 / Math.pow(rank, SKEW);
    }
    double alpha = 1 / (1 - SKEW);
    double zetaOfTwo = 1 + Math.pow(0.5, SKEW);
    double eta = (1 - Math.pow(2.0 / objects, 1 - SKEW)) / (1 - zetaOfTwo / zeta);
    for (int i = 0; i < DRAWS; i++) {
      double uniform = random.nextDouble();
      double weighted = uniform * zeta;
      long rank;
      if (weighted < 1) {
        rank = 0;
      } else if (weighted < zetaOfTwo) {
        rank = 1;
      } else {
        rank = (long) (objects * Math.pow(eta * uniform - eta + 1, alpha));
      }
      drawn[i] = (int) Long.remainderUnsigned(KeyValueTable.scatter(rank + 1), objects);
    }
  }

  /** The next object, from 0. */
  int next() {
    next = next + 1 & DRAWS - 1;
    return drawn[next];
  }
}
