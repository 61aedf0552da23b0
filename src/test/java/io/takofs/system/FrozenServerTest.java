package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server that does not answer: the deadline, an error that names it, no hang; then it goes on.
 */
class FrozenServerTest {
  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(120)
  void shouldFailByTheDeadlineNamingTheServerAndCarryOnAfterwards(String transport)
      throws Exception {
    try (ServerProcess server = ServerProcess.start();
        TakoClient client = Clients.connect(server, transport, "fs.tako.client.timeout", "4s")) {
      client.mkdirs("/before");
      try (TakoOutputStream out = client.create("/file", CreateOptions.DEFAULT)) {
        out.write(1);
        out.hflush();
        server.signal("STOP");
        TakoException stat =
            catchThrowableOfType(() -> client.getStatus("/before"), TakoException.class);
        assertDeadline(stat, server);
        out.write(2);
        assertDeadline(catchThrowableOfType(out::hflush, TakoException.class), server);
        server.signal("CONT");
      } catch (TakoException closed) {
        // The stream failed for good; closing it may say so once more.
        assertThat(closed).hasMessageContaining("/file");
      }
      assertThat(client.getStatus("/before").directory()).isTrue();
      byte[] content = Clients.read(client, "/file");
      assertThat(content[0]).isEqualTo((byte) 1);
      assertThat(content.length).isBetween(1, 2);
    }
  }

  private static void assertDeadline(TakoException failure, ServerProcess server) {
    assertThat(failure).isNotNull();
    assertThat(failure.status()).isEqualTo(Status.DEADLINE_EXCEEDED);
    assertThat(failure).hasMessageContaining(server.uri().getAuthority());
  }
}
