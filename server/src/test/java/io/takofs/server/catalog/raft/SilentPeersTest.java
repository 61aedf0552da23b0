package io.takofs.server.catalog.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.FreePorts;
import io.takofs.server.ManualClock;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Peers of which none can be reached: the store says why, and what to do. */
class SilentPeersTest {
  private static final String UNKNOWN = "no-such-host.invalid:7421";

  private static String free() throws IOException {
    return "127.0.0.1:" + new FreePorts(new Random()).onLoopback(1).get(0);
  }

  /** Runs {@code what} with a store of {@code peers} that uses {@code clock}. */
  private static <T> T with(
      List<String> peers, ManualClock clock, Function<RatisConfigStore, T> what) {
    try (TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
        PeerConnections connections =
            new PeerConnections(transport, ServerSecret.NONE, new SecureRandom(), clock);
        RatisConfigStore store = new RatisConfigStore(peers, connections, clock)) {
      return what.apply(store);
    }
  }

  private static String problem(List<String> peers) {
    return with(
        peers, new ManualClock(), store -> catchThrowable(() -> store.get("map")).getMessage());
  }

  @Test
  void shouldLookForAnAnswerOnlyAsLongAsTheCallerWants() throws IOException {
    Duration limit = Duration.ofSeconds(2);
    ManualClock clock = new ManualClock();
    long before = clock.nanoTime();
    boolean answers = with(List.of(free()), clock, store -> store.answersWithin(limit));
    assertThat(answers).isFalse();
    assertThat(clock.nanoTime() - before)
        .isBetween(limit.toNanos(), limit.plusSeconds(1).toNanos());
  }

  @Test
  void shouldNameAnUnknownHostBeforeAPeerThatRefuses() throws IOException {
    String down = free();
    for (List<String> peers : List.of(List.of(UNKNOWN, down), List.of(down, UNKNOWN))) {
      assertThat(problem(peers))
          .contains("does not answer: " + UNKNOWN + ": host no-such-host.invalid is unknown")
          .contains("correct fs.tako.cluster.servers, or the name service");
    }
  }

  @Test
  void shouldSayWhyAPeerCannotBeReachedInPlainWords() throws IOException {
    String down = free();
    assertThat(problem(List.of(down)))
        .contains("does not answer: cannot connect to " + down + ": Connection refused")
        .doesNotContain("Exception");
  }
}
