package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that does nothing for a while costs the server no connection, and notices nothing. */
@Timeout(120)
class IdleConnectionsTest {
  private static final int BYTES = 300_000;

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldEndWhatIsNotUsedAndConnectAgain(String transport) throws Exception {
    try (LocalServer server = new LocalServer("128m");
        TakoClient idler = server.connect(transport, "fs.tako.client.idle.timeout", "1s");
        TakoClient watcher = server.connect(transport)) {
      byte[] content = new byte[BYTES];
      Pattern.fill("/f", 0, content, BYTES);
      try (TakoOutputStream out = idler.create("/f", CreateOptions.DEFAULT)) {
        out.write(content);
      }
      try (TakoInputStream in = idler.open("/f")) {
        assertThat(in.read()).isEqualTo(content[0] & 0xff);
        awaitConnections(watcher, 1);
        Pattern.check("/f", Clients.read(idler, "/f"));
        awaitConnections(watcher, 1);
        in.seek(0);
        Pattern.check("/f", in.readAllBytes());
      }
      try (TakoOutputStream out = idler.create("/g", CreateOptions.DEFAULT)) {
        out.write(content, 0, 100_000);
        out.hflush();
        awaitRenewals(watcher, 1);
        out.write(content, 0, 100_000);
      }
      assertThat(idler.getStatus("/g").length()).isEqualTo(200_000);
    }
  }

  private static void awaitConnections(TakoClient watcher, int count) throws Exception {
    Poll.until(
        count + " connections",
        Duration.ofSeconds(30),
        () -> watcher.serverStatus().getConnectionsCount() == count);
  }

  /** So often the writer's session is used by nothing else. */
  private static void awaitRenewals(TakoClient watcher, long count) throws Exception {
    long before = watcher.serverStatus().getCountersOrDefault("calls.renew_leases", 0);
    Poll.until(
        count + " renewals",
        Duration.ofSeconds(30),
        () ->
            watcher.serverStatus().getCountersOrDefault("calls.renew_leases", 0) >= before + count);
  }
}
