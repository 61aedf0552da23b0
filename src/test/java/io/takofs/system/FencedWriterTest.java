package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writers that are alive and well, and cut off or left alone by the server meanwhile. */
class FencedWriterTest {
  private static final int BYTES = 100_000;

  /**
   * Its file is deleted under it and the extents go to another file before it writes again: what it
   * still has to store must not land there.
   */
  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(value = 3, unit = TimeUnit.MINUTES)
  void shouldNotStoreInExtentsThatWereTakenFromItMeanwhile(String transport) throws Exception {
    try (ServerProcess server =
            ServerProcess.start(
                "fs.tako.server.lease.soft", "1s", "fs.tako.server.quarantine", "200ms");
        TakoClient writer = Clients.connect(server, transport);
        TakoClient other = Clients.connect(server, transport)) {
      TakoOutputStream out = writer.create("/taken", CreateOptions.DEFAULT);
      out.write(new byte[BYTES]);
      other.delete("/taken", false);
      Poll.until("the extents are free", Duration.ofSeconds(30), () -> other.usage().used() == 0);
      byte[] content = new byte[20 * BYTES];
      Pattern.fill("/others", 0, content, content.length);
      try (TakoOutputStream others = other.create("/others", CreateOptions.DEFAULT)) {
        others.write(content);
      }
      TakoException lost =
          catchThrowableOfType(
              () -> {
                out.write(new byte[BYTES / 10]);
                out.hflush();
              },
              TakoException.class);
      assertThat(lost.status()).isEqualTo(Status.LEASE_LOST);
      Pattern.check("/others", Clients.read(other, "/others"));
      // The client itself carries on.
      try (TakoOutputStream more = writer.create("/more", CreateOptions.DEFAULT)) {
        more.write(content);
      }
      assertThat(Clients.read(other, "/more")).isEqualTo(content);
      assertThat(catchThrowableOfType(out::close, TakoException.class).status())
          .isEqualTo(Status.LEASE_LOST);
      Clients.checkNothingLeaks(other);
    }
  }

  /** The server dies while the writer has nothing to say, and is away for less than a session. */
  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(value = 3, unit = TimeUnit.MINUTES)
  void shouldKeepTheFileOfAnIdleWriterOverARestart(String transport) throws Exception {
    try (ServerProcess server = ServerProcess.start("fs.tako.server.session.ttl", "3s");
        TakoClient writer = Clients.connect(server, transport);
        TakoClient other = Clients.connect(server, transport)) {
      TakoOutputStream out = writer.create("/idle", CreateOptions.DEFAULT);
      byte[] content = new byte[BYTES];
      Pattern.fill("/idle", 0, content, content.length);
      out.write(content, 0, BYTES / 2);
      out.hflush();
      server.kill();
      server.restart();
      long restarted = System.nanoTime();
      Poll.until(
          "twice the life of a silent session has passed",
          Duration.ofSeconds(30),
          () ->
              other.getStatus("/idle").underConstruction()
                  && System.nanoTime() - restarted > Duration.ofSeconds(7).toNanos());
      out.write(content, BYTES / 2, BYTES / 2);
      out.close();
      assertThat(Clients.read(other, "/idle")).isEqualTo(content);
    }
  }
}
