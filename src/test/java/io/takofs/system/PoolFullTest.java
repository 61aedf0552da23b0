package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A full pool says so, loses nothing, and is as good as new when something is deleted. */
class PoolFullTest {
  private static final int FILE_BYTES = 1_500_000;

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(180)
  void shouldReportNoSpaceLoseNothingAndResume(String transport) throws Exception {
    try (ServerProcess server =
            ServerProcess.start(
                "fs.tako.server.pool.size", "120m", "fs.tako.server.quarantine", "200ms");
        TakoClient client = Clients.connect(server, transport)) {
      int files = 0;
      TakoException full = null;
      while (full == null) {
        String path = "/f" + files;
        full = catchThrowableOfType(() -> write(client, path), TakoException.class);
        files += full == null ? 1 : 0;
      }
      assertThat(full.status()).isEqualTo(Status.NO_SPACE);
      assertThat(full.getMessage()).contains("/f" + files).contains("space");
      assertThat(files).isGreaterThan(5);
      for (int i = 0; i < files; i++) {
        check(client, "/f" + i);
      }
      client.delete("/f0", false);
      String again = "/again";
      Poll.until(
          "writing works again after a delete",
          Duration.ofSeconds(30),
          () -> {
            try {
              write(client, again);
              return true;
            } catch (TakoException e) {
              assertThat(e.status()).isEqualTo(Status.NO_SPACE);
              client.delete(again, false);
              return false;
            }
          });
      check(client, again);
      for (int i = 1; i < files; i++) {
        check(client, "/f" + i);
      }
      Clients.checkNothingLeaks(client);
    }
  }

  private static void write(TakoClient client, String path) throws TakoException {
    byte[] content = new byte[FILE_BYTES];
    Pattern.fill(path, 0, content, FILE_BYTES);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
  }

  private static void check(TakoClient client, String path) throws IOException {
    byte[] content = Clients.read(client, path);
    assertThat(content).as(path).hasSize(FILE_BYTES);
    Pattern.check(path, content);
  }
}
