package io.takofs.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.system.LinkFault.Kind;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Links of servers that keep the namespace are cut, wholly or one way, and healed; see {@link
 * FailureRounds} for what must hold. {@code tako.test.partitions} says how often, and {@code
 * tako.test.partition.kinds} of which kinds.
 */
@Timeout(value = 10, unit = TimeUnit.HOURS)
class PartitionTest {
  private static final int ROUNDS = Integer.getInteger("tako.test.partitions", 2);
  private static final List<String> TRANSPORTS = List.of("tcp", "tcp", "tcp", "tcp");

  private final List<Kind> kinds = kinds();
  private int drawn;

  private static List<Kind> kinds() {
    String names = System.getProperty("tako.test.partition.kinds", "");
    return names.isEmpty()
        ? List.of(Kind.values())
        : Arrays.stream(names.split(",")).map(Kind::valueOf).toList();
  }

  @Test
  void shouldLoseNothingWhenLinksAreCut() throws Exception {
    Optional<String> obstacle = ClusterNetwork.obstacle();
    assumeTrue(
        obstacle.isEmpty(),
        () -> "not run, this machine makes no network namespaces: " + obstacle.orElseThrow());
    try (ClusterNetwork network = ClusterNetwork.of(FailureRounds.SERVERS);
        ServerCluster cluster = ServerCluster.startAt(network.places(), FailureRounds.SETTINGS);
        FailureRounds rounds = new FailureRounds(cluster, TRANSPORTS)) {
      rounds.run(ROUNDS, (leader, random) -> draw(network, leader, random));
    }
  }

  /** One kind after the other, which befalls the leader and a follower by turns. */
  private LinkFault draw(ClusterNetwork network, int leader, Random random) {
    Kind kind = kinds.get(drawn % kinds.size());
    boolean leads = (drawn % kinds.size() + drawn / kinds.size()) % 2 == 0;
    drawn++;
    int victim = leads ? leader : another(leader, random);
    return new LinkFault(kind, network, victim, another(victim, random), leads);
  }

  private static int another(int server, Random random) {
    return (server + 1 + random.nextInt(FailureRounds.SERVERS - 1)) % FailureRounds.SERVERS;
  }
}
