package io.takofs.sim.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.takofs.sim.TwoJvms;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicated log under all faults. {@code -Dtako.sim.seeds=N} runs N seeds, {@code
 * -Dtako.sim.seed=S} begins at S.
 */
class GroupLogSimulationTest {
  private static final Logger LOG = LoggerFactory.getLogger(GroupLogSimulationTest.class);
  private static final int SEEDS = Integer.getInteger("tako.sim.seeds", 20);
  private static final long FIRST_SEED = Long.getLong("tako.sim.seed", 0);
  private static final int STEPS = 200;

  /** Seeds within which a rule that is broken must have been found. */
  private static final int SEEDS_TO_FAIL = 2000;

  @Test
  void shouldCommitOneHistory() {
    int acknowledged = 0;
    int leaseReads = 0;
    int changesByLeaders = 0;
    int takeovers = 0;
    int renewals = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      GroupLogSimulation.Result result = new GroupLogSimulation(seed, STEPS, Set.of()).run();
      LOG.info("seed {}: {}", seed, result);
      acknowledged += result.acknowledged();
      leaseReads += result.leaseReads();
      changesByLeaders += result.changesByLeaders();
      takeovers += result.takeovers();
      renewals += result.renewals();
    }
    assertThat(acknowledged).isGreaterThan(0);
    if (SEEDS > 1) { // in every other one there are leases
      assertThat(leaseReads).isGreaterThan(0);
      assertThat(changesByLeaders).isGreaterThan(0);
      assertThat(takeovers).isGreaterThan(0);
      assertThat(renewals).isGreaterThan(0);
    }
  }

  @Test
  void shouldDoTheSameInAnotherJvm() throws Exception {
    List<String> results = TwoJvms.run(GroupLogSimulation.class, "3", "20");
    assertThat(results.get(0)).contains("trace=").isEqualTo(results.get(1));
  }

  @ParameterizedTest
  @EnumSource
  void shouldFindARuleThatIsBroken(BrokenRule rule) {
    for (long seed = 0; seed < SEEDS_TO_FAIL; seed++) {
      try {
        new GroupLogSimulation(seed, STEPS, Set.of(rule)).run();
      } catch (AssertionError found) {
        assertThat(found).hasMessageContaining("seed " + seed);
        LOG.info("{} is found after {} seeds: {}", rule, seed + 1, found.getMessage());
        return;
      }
    }
    fail(rule + " is not found");
  }
}
