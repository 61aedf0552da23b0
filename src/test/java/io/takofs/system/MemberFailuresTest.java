package io.takofs.system;

import io.takofs.system.ProcessFault.Kind;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers that keep the namespace are killed, stand still or lose all that they have, one at a
 * time; see {@link FailureRounds} for what must hold. Properties say how often.
 */
@Timeout(value = 10, unit = TimeUnit.HOURS)
class MemberFailuresTest {
  private static final List<String> TRANSPORTS = List.of("shm", "tcp", "tcp", "shm");

  @Test
  void shouldLoseNothingWhenLeadersAreKilled() throws Exception {
    run("tako.test.member.leader.kills", Kind.KILLED, leads -> leads);
  }

  @Test
  void shouldLoseNothingWhenFollowersAreKilled() throws Exception {
    run("tako.test.member.follower.kills", Kind.KILLED, leads -> !leads);
  }

  @Test
  void shouldLoseNothingWhenLeadersStandStillAndWakeUp() throws Exception {
    run("tako.test.member.leader.freezes", Kind.FROZEN, leads -> leads);
  }

  @Test
  void shouldLoseNothingWhenMachinesAreLost() throws Exception {
    run("tako.test.member.losses", Kind.LOST, leads -> true);
  }

  /**
   * @param property that says how many rounds there are
   * @param wanted of servers, by whether they lead
   */
  private static void run(String property, Kind kind, Predicate<Boolean> wanted) throws Exception {
    try (ServerCluster cluster =
            ServerCluster.start(FailureRounds.SERVERS, FailureRounds.SETTINGS);
        FailureRounds rounds = new FailureRounds(cluster, TRANSPORTS)) {
      rounds.run(
          Integer.getInteger(property, 1),
          (leader, random) -> {
            int victim = draw(leader, random, wanted);
            return new ProcessFault(kind, cluster.servers().get(victim), victim == leader);
          });
    }
  }

  private static int draw(int leader, Random random, Predicate<Boolean> wanted) {
    int drawn = random.nextInt(FailureRounds.SERVERS);
    while (!wanted.test(drawn == leader)) {
      drawn = random.nextInt(FailureRounds.SERVERS);
    }
    return drawn;
  }
}
