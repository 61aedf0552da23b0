package io.takofs.sim.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.takofs.client.SimClients;
import io.takofs.sim.TwoJvms;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whole servers and clients under kills, torn log writes, broken connections and cut-off processes.
 * {@code -Dtako.sim.seeds=N} runs N seeds, {@code -Dtako.sim.seed=S} begins at S; {@code
 * -Dtako.sim.rare=true} also looks for what takes many seeds.
 */
class ClusterSimulationTest {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterSimulationTest.class);
  private static final int SEEDS = Integer.getInteger("tako.sim.seeds", 6);
  private static final long FIRST_SEED = Long.getLong("tako.sim.seed", 0);
  private static final int STEPS = 150;
  private static final int OTHERS = 2;

  /** Seeds within which servers that break a rule must have been caught. */
  private static final int SEEDS_TO_FIND_WEAKNESS = 500;

  /** Seeds within which a weakened client or server must have been caught. */
  private static final int SEEDS_TO_FAIL = 10;

  @Test
  void shouldKeepWhatWasAcknowledgedAndShowNothingElse() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      LOG.info("seed {}", seed);
      ClusterSimulation.Result result = new ClusterSimulation(seed, STEPS, SimClients.real()).run();
      LOG.info("seed {}: {}", seed, result);
      assertThat(result.faults()).isNotEmpty();
    }
  }

  @Test
  void shouldKeepFilesOnSeveralServers() {
    int runs = 0;
    int reached = 0;
    int moved = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      ClusterSimulation.Result result =
          new ClusterSimulation(seed, STEPS, SimClients.real(), OTHERS, SimServer.Commits.AT_ONCE)
              .run();
      LOG.info("seed {} of several servers: {}", seed, result);
      moved += result.moved();
      runs += result.copies() > 1 ? 1 : 0;
      reached += result.copies() > 1 && result.bytesAtOthers() > 0 ? 1 : 0;
    }
    assertThat(moved).isPositive();
    // A slab that only the leader had room for may be too long for the others, and hold all there
    // is.
    assertThat(reached).isGreaterThan(runs / 2);
  }

  /** As a log with several members will: nobody hears of an entry that a kill may take away. */
  @ParameterizedTest
  @ValueSource(ints = {0, OTHERS})
  void shouldTellNobodyOfWhatIsNotCommitted(int others) {
    int mostOutstanding = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      ClusterSimulation.Result result =
          new ClusterSimulation(seed, STEPS, SimClients.real(), others, SimServer.Commits.LATER)
              .run();
      LOG.info("seed {} with slow commits: {}", seed, result);
      mostOutstanding = Math.max(mostOutstanding, result.mostOutstanding());
    }
    assertThat(mostOutstanding).isGreaterThan(2);
  }

  @Test
  void shouldCatchRepliesThatAreSentBeforeTheirEntriesAreCommitted() {
    shouldCatch(SimClients.real(), SimServer.Commits.LATER_THAN_SAID);
  }

  @ParameterizedTest
  @CsvSource({"0,AT_ONCE", OTHERS + ",AT_ONCE", OTHERS + ",LATER"})
  void shouldDoTheSameInAnotherJvm(int others, String commits) throws Exception {
    List<String> results = TwoJvms.run(ClusterSimulation.class, "7", "30", "" + others, commits);
    assertThat(results.get(0)).contains("trace=").isEqualTo(results.get(1));
  }

  @Test
  void shouldCatchCallsThatAreExecutedTwice() {
    shouldCatch(SimClients.withoutExactlyOnce(), SimServer.Commits.AT_ONCE);
  }

  @Test
  void shouldCatchTailsThatAreLostOnClose() {
    shouldCatch(SimClients.losingTailsOnClose(), SimServer.Commits.AT_ONCE);
  }

  @ParameterizedTest
  @EnumSource(names = {"MOVE_EARLY", "COPY_EARLY", "FENCE_SOME"})
  void shouldCatchServersThatBreakARule(WeakServers.Weakness weakness) {
    shouldCatch(weakness);
  }

  /**
   * A copy that no fence refuses takes hundreds of seeds: it has to be late, and its memory granted
   * anew before it. Fences that do nothing are found as those that do half of it.
   */
  @ParameterizedTest
  @EnumSource(names = {"COPY_UNFENCED", "FENCE_SKIPPED"})
  @EnabledIfSystemProperty(named = "tako.sim.rare", matches = "true")
  void shouldCatchServersThatBreakARuleInManySeeds(WeakServers.Weakness weakness) {
    shouldCatch(weakness);
  }

  private static void shouldCatch(WeakServers.Weakness weakness) {
    for (long seed = 0; seed < SEEDS_TO_FIND_WEAKNESS; seed++) {
      try {
        new ClusterSimulation(seed, STEPS, SimClients.real(), OTHERS, SimServer.Commits.AT_ONCE)
            .weakened(weakness)
            .run();
      } catch (AssertionError found) {
        assertThat(found).hasMessageContaining("seed " + seed);
        LOG.info("{} is caught by seed {}: {}", weakness, seed, found.getMessage());
        return;
      }
    }
    fail(weakness + " is not caught");
  }

  private static void shouldCatch(SimClients clients, SimServer.Commits commits) {
    for (long seed = 0; seed < SEEDS_TO_FAIL; seed++) {
      try {
        new ClusterSimulation(seed, STEPS, clients, 0, commits).run();
      } catch (AssertionError found) {
        assertThat(found).hasMessageContaining("seed " + seed);
        LOG.info("caught: {}", found.getMessage());
        return;
      }
    }
    fail("no seed caught it");
  }
}
