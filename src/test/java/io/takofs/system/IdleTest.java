package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An idle server and an idle connected client use less than 2 % of a core. */
class IdleTest {
  private static final Duration WINDOW = Duration.ofSeconds(5);
  private static final double LIMIT = 0.02;

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(120)
  void shouldUseNoProcessorWhileIdle(String transport) throws Exception {
    try (ServerProcess server = ServerProcess.start();
        TakoClient client = Clients.connect(server, transport)) {
      client.mkdirs("/idle");
      // The compilers of both JVMs still work for a moment: the quietest of some windows counts.
      double serverShare = 1;
      double clientShare = 1;
      for (int window = 0; window < 4 && (serverShare >= LIMIT || clientShare >= LIMIT); window++) {
        long serverBefore = cpuNanos(server.pid());
        long clientBefore = cpuNanos(ProcessHandle.current().pid());
        LockSupport.parkNanos(WINDOW.toNanos());
        serverShare = share(cpuNanos(server.pid()) - serverBefore);
        clientShare = share(cpuNanos(ProcessHandle.current().pid()) - clientBefore);
      }
      System.out.printf(
          "idle over %s: server %.2f %%, client %.2f %% of a core%n",
          transport, 100 * serverShare, 100 * clientShare);
      assertThat(serverShare).as("server").isLessThan(LIMIT);
      assertThat(clientShare).as("client").isLessThan(LIMIT);
      assertThat(client.getStatus("/idle").directory()).isTrue();
    }
  }

  private static double share(long nanos) {
    return (double) nanos / WINDOW.toNanos();
  }

  private static long cpuNanos(long pid) {
    ProcessHandle process = ProcessHandle.of(pid).orElseThrow();
    return process.info().totalCpuDuration().orElseThrow().toNanos();
  }
}
