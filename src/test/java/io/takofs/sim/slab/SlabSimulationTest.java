package io.takofs.sim.slab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.takofs.sim.TwoJvms;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Data zones of several servers and their writers under all faults. {@code -Dtako.sim.seeds=N} runs
 * N seeds, {@code -Dtako.sim.seed=S} begins at S.
 */
class SlabSimulationTest {
  private static final Logger LOG = LoggerFactory.getLogger(SlabSimulationTest.class);
  private static final int SEEDS = Integer.getInteger("tako.sim.seeds", 20);
  private static final long FIRST_SEED = Long.getLong("tako.sim.seed", 0);
  private static final int STEPS = 100;

  /** Seeds within which a rule that is broken must have been found. */
  private static final int SEEDS_TO_FAIL = 500;

  @Test
  void shouldKeepCommittedBytesOnAllReplicas() {
    int commits = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      SlabSimulation.Result result = new SlabSimulation(seed, STEPS, Set.of()).run();
      LOG.info("seed {}: {}", seed, result);
      commits += result.commits();
    }
    assertThat(commits).isGreaterThan(0);
  }

  @Test
  void shouldDoTheSameInAnotherJvm() throws Exception {
    List<String> results = TwoJvms.run(SlabSimulation.class, "3", "20");
    assertThat(results.get(0)).contains("trace=").isEqualTo(results.get(1));
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"RETURN_UNNAMED", "RETURN_UNFENCED"})
  void shouldFindARuleThatIsBroken(Weakness weakness) {
    find(weakness);
  }

  /** These take hundreds of seeds. */
  @Tag("long")
  @ParameterizedTest
  @EnumSource(names = {"RETURN_UNNAMED", "RETURN_UNFENCED"})
  void shouldFindARuleOfReturnsThatIsBroken(Weakness weakness) {
    find(weakness);
  }

  private static void find(Weakness weakness) {
    for (long seed = 0; seed < SEEDS_TO_FAIL; seed++) {
      try {
        new SlabSimulation(seed, STEPS, Set.of(weakness)).run();
      } catch (AssertionError found) {
        assertThat(found).hasMessageContaining("seed " + seed);
        LOG.info("{} is found after {} seeds: {}", weakness, seed + 1, found.getMessage());
        return;
      }
    }
    fail(weakness + " is not found");
  }
}
