package io.takofs.sim.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checkpoints are taken over in spite of everything. {@code -Dtako.sim.seeds=N} runs N seeds,
 * {@code -Dtako.sim.seed=S} begins at S.
 */
class SnapshotSimulationTest {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotSimulationTest.class);
  private static final int SEEDS = Integer.getInteger("tako.sim.seeds", 20);
  private static final long FIRST_SEED = Long.getLong("tako.sim.seed", 0);

  /** Seeds within which a target that trusts too much must have been found. */
  private static final int SEEDS_TO_FAIL = 200;

  @Test
  void shouldTakeOverWhatTheSourceHadOrNothing() throws Exception {
    int givenUp = 0;
    int deaths = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      SnapshotSimulation.Result result = new SnapshotSimulation(seed, false).run();
      LOG.info("seed {}: {}", seed, result);
      givenUp += result.givenUp();
      deaths += result.deaths();
    }
    if (SEEDS > 1) {
      assertThat(givenUp).isPositive();
      assertThat(deaths).isPositive();
    }
  }

  /** The second net: pages that were overwritten while they were read fail their verification. */
  @Test
  void shouldFindThatItTrustsASourceThatNeededThePages() throws Exception {
    for (long seed = 0; seed < SEEDS_TO_FAIL; seed++) {
      try {
        new SnapshotSimulation(seed, true).run();
      } catch (AssertionError found) {
        assertThat(found).hasMessageContaining("seed " + seed);
        LOG.info("found after {} seeds: {}", seed + 1, found.getMessage());
        return;
      }
    }
    fail("not found");
  }
}
