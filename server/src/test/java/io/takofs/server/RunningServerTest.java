package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.pool.Pool;
import io.takofs.server.store.HeldCheckpoint;
import io.takofs.server.store.PagedStore;
import io.takofs.server.store.SnapshotZone;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunningServerTest {
  private static final String HOST = "fs.tako.server.host";
  private static final String PORT = "fs.tako.server.port";
  private static final String HTTP = "fs.tako.server.http.address";

  /** For documentation alone (RFC 5737): no machine has it. */
  private static final String NOT_OURS = "192.0.2.1";

  @TempDir Path directory;
  private Path pool;
  private TakoConfig config;

  @BeforeEach
  void configure() throws Exception {
    pool = directory.resolve("pool");
    config =
        new TakoConfig()
            .set(HOST, "127.0.0.1")
            .set(PORT, "0")
            .set(HTTP, "")
            .set("fs.tako.server.pool.path", pool.toString())
            .set("fs.tako.server.pool.size", "64m")
            .set("fs.tako.server.state.dir", directory.resolve("state").toString());
  }

  private RunningServer start(boolean format) throws IOException {
    return RunningServer.start(config, System.getProperty("user.name"), format);
  }

  private String refusal(boolean format) {
    TakoException refused = catchThrowableOfType(() -> start(format).close(), TakoException.class);
    assertThat(refused).isNotNull();
    assertThat(refused.status()).as(refused.getMessage()).isEqualTo(Status.UNAVAILABLE);
    assertThat(refused.getSuppressed()).isEmpty();
    return refused.getMessage();
  }

  private void assertNothingLeft() {
    assertThat(pool).doesNotExist();
    String[] markers = directory.resolve("state").toFile().list();
    assertThat(markers == null ? new String[0] : markers).isEmpty();
  }

  @Test
  void shouldRemoveThePoolThatAStartFormattedBeforeItFailed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      config.set(PORT, port);
      refusal(false);
      assertNothingLeft();
      refusal(true);
      assertNothingLeft();
      config.set(PORT, "0").set(HTTP, "127.0.0.1:" + port);
      refusal(false);
      assertNothingLeft();
    }
  }

  /** Nobody is there from whom it could take the rest. */
  @Test
  void shouldRefuseToBeAloneWithHalfACheckpointOfAnotherServer() throws Exception {
    start(false).close();
    try (Pool opened = Pool.openOrFormat(pool, ServerSettings.poolSizes(config))) {
      HeldCheckpoint held = PagedStore.open(opened.pages()).hold();
      SnapshotZone.begin(opened.pages(), held.encoded(), held.pages());
    }
    assertThatThrownBy(() -> start(false).close())
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("from another server")
        .hasMessageContaining("fs.tako.cluster.servers");
  }

  @Test
  void shouldAdviseAnAddressOfThisMachineWhenItHasNotTheConfiguredOne() throws Exception {
    for (String host : new String[] {NOT_OURS, "no-such-host.invalid"}) {
      config.set(HOST, host).set(HTTP, "");
      assertThat(refusal(false)).contains(host, "set " + HOST).doesNotContain("stop what listens");
      config.set(HOST, "127.0.0.1").set(HTTP, host + ":0");
      assertThat(refusal(false)).contains(host, "set " + HTTP).doesNotContain("stop what listens");
    }
  }

  @Test
  void shouldAdviseAFreePortWhenItIsTaken() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      config.set(PORT, Integer.toString(taken.getLocalPort()));
      assertThat(refusal(false)).contains("stop what listens there", PORT);
    }
  }

  /** A large pool takes minutes to be formatted. */
  @Test
  void shouldFormatNothingWhereItCannotListen() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      config
          .set(PORT, Integer.toString(taken.getLocalPort()))
          .set("fs.tako.server.pool.size", "15t");
      assertThat(refusal(false)).contains("stop what listens there", PORT);
      assertNothingLeft();
    }
  }

  @Test
  void shouldKeepTheDirectoryThatWasThere() throws Exception {
    Files.createDirectory(pool);
    config.set(HOST, NOT_OURS);
    refusal(false);
    assertThat(pool.toFile().list()).isEmpty();
  }

  @Test
  void shouldKeepThePoolThatWasThere() throws Exception {
    start(false).close();
    config.set(HOST, NOT_OURS);
    refusal(false);
    assertThat(pool.resolve("meta")).exists();
    assertThat(pool.resolve("data")).exists();
    assertThat(directory.resolve("state").toFile().list()).isNotEmpty();
    config.set(HOST, "127.0.0.1");
    start(false).close();
  }
}
