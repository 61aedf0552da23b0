package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that is not used costs its process one sleeping thread. */
@Timeout(120)
class IdleThreadsTest {
  private static final byte[] BYTES = new byte[300_000];

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldHaveOneThreadWhenIdle(String transport) throws Exception {
    try (ServerProcess server = ServerProcess.start()) {
      try (TakoClient first = connect(server, transport)) {
        use(first, "/first"); // what a process has once, however many clients there are
      }
      Set<Thread> before = Thread.getAllStackTraces().keySet();
      try (TakoClient client = connect(server, transport)) {
        assertThat(startedSince(before)).as("before the first call").isEmpty();
        use(client, "/second");
        try (TakoInputStream in = client.open("/second")) {
          in.readNBytes(BYTES.length);
          in.unbuffer();
          Poll.until(
              "one thread at most", Duration.ofSeconds(60), () -> startedSince(before).size() <= 1);
          assertThat(client.bufferBytes()).isZero();
          in.seek(100);
          assertThat(in.readNBytes(BYTES.length)).hasSize(BYTES.length - 100);
        }
        use(client, "/third");
      }
    }
  }

  private static TakoClient connect(ServerProcess server, String transport) throws IOException {
    return Clients.connect(server, transport, "fs.tako.client.idle.timeout", "1s");
  }

  private static void use(TakoClient client, String path) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(BYTES);
    }
    assertThat(Clients.read(client, path)).isEqualTo(BYTES);
  }

  private static Set<Thread> startedSince(Set<Thread> before) {
    Set<Thread> now = new HashSet<>(Thread.getAllStackTraces().keySet());
    now.removeAll(before);
    now.removeIf(thread -> !thread.isAlive());
    return now;
  }
}
