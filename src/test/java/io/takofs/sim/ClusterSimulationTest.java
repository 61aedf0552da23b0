package io.takofs.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.takofs.client.SimClients;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whole servers and clients under kills, torn log writes, broken connections and cut-off processes.
 * {@code -Dtako.sim.seeds=N} runs N seeds, {@code -Dtako.sim.seed=S} begins at S.
 */
class ClusterSimulationTest {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterSimulationTest.class);
  private static final int SEEDS = Integer.getInteger("tako.sim.seeds", 6);
  private static final long FIRST_SEED = Long.getLong("tako.sim.seed", 0);
  private static final int STEPS = 150;

  /** Seeds within which a weakened client must have been caught. */
  private static final int SEEDS_TO_FAIL = 10;

  @Test
  void shouldKeepWhatWasAcknowledgedAndShowNothingElse() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      LOG.info("seed {}", seed);
      ClusterSimulation.Result result = new ClusterSimulation(seed, STEPS, SimClients.real()).run();
      LOG.info("seed {}: {}", seed, result);
      assertThat(result.serverKills()).isGreaterThan(0);
    }
  }

  @Test
  void shouldRepeatARunFromItsSeed() {
    ClusterSimulation.Result first = new ClusterSimulation(77, 60, SimClients.real()).run();
    assertThat(new ClusterSimulation(77, 60, SimClients.real()).run()).isEqualTo(first);
  }

  @Test
  void shouldCatchCallsThatAreExecutedTwice() {
    for (long seed = 0; seed < SEEDS_TO_FAIL; seed++) {
      try {
        new ClusterSimulation(seed, STEPS, SimClients.withoutExactlyOnce()).run();
      } catch (AssertionError found) {
        assertThat(found).hasMessageContaining("seed " + seed);
        LOG.info("caught: {}", found.getMessage());
        return;
      }
    }
    fail("no seed caught it");
  }
}
