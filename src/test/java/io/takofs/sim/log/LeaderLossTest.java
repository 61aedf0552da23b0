package io.takofs.sim.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.sim.SimConditions;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How soon another member leads when the process of the leader ends. */
class LeaderLossTest {
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long STEADY_NS = TimeUnit.SECONDS.toNanos(1);

  private SimScheduler scheduler;
  private List<SimLogMember> members;

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldMissALeaderWhoseConnectionEnds(long seed) throws Exception {
    start(seed);
    for (int death = 0; death < 3; death++) {
      SimLogMember leader = awaitLeader();
      scheduler.pass(STEADY_NS);
      assertThat(leader()).as("nobody disturbs a leader").isSameAs(leader);
      leader.kill();
      long diedNs = scheduler.nowNs();
      awaitLeader();
      assertThat(scheduler.nowNs() - diedNs).isLessThan(SimLogMember.MISSED_NS);
      assertThat(leader.start()).isTrue();
      scheduler.pass(STEADY_NS);
    }
  }

  private void start(long seed) throws Exception {
    scheduler = new SimScheduler(seed);
    SimNetwork network = new SimNetwork(scheduler, SimConditions.CALM);
    SimCatalog catalog = new SimCatalog(scheduler, Set.of(1, 2, 3), Set.of());
    catalog.calmDown();
    LogHistory history = new LogHistory();
    members = new ArrayList<>();
    for (int id = 1; id <= 3; id++) {
      members.add(
          new SimLogMember(
              network, id, members, catalog, history, 0, 0, Set.of(), 0, false, Set.of()));
    }
    for (SimLogMember member : members) {
      assertThat(member.start()).isTrue();
    }
  }

  private SimLogMember awaitLeader() {
    scheduler.await(LIMIT_NS, () -> leader() != null);
    return leader();
  }

  private SimLogMember leader() {
    return members.stream()
        .filter(member -> member.isAlive() && member.member().leadingTerm() != 0)
        .findFirst()
        .orElse(null);
  }
}
