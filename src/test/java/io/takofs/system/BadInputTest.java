package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.FreePorts;
import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every bad input is refused with what was wrong, where, and what to do. */
@Timeout(60)
class BadInputTest {
  private static ServerProcess server;
  private static TakoClient client;

  /** Permissions hold for root too when it has put these down. */
  private static final List<String> WITHOUT_PRIVILEGES =
      System.getProperty("user.name").equals("root")
          ? List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search")
          : List.of();

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    server = ServerProcess.start();
    client = Clients.connect(server, "auto");
  }

  @AfterAll
  static void stop() throws Exception {
    client.close();
    server.close();
  }

  @Test
  void shouldRefuseIllegalPathsAndNames() throws Exception {
    for (String path :
        List.of("", "relative", "/a//b", "/a/./b", "/a/../b", "/a/", "/nul\0", "/x".repeat(5000))) {
      TakoException refused = failure(() -> client.mkdirs(path));
      assertThat(refused.status()).as(path).isEqualTo(Status.INVALID_ARGUMENT);
      assertThat(refused.getMessage()).isNotBlank();
    }
    String longest = "/" + "n".repeat(255);
    client.mkdirs(longest);
    TakoException tooLong = failure(() -> client.mkdirs(longest + "n"));
    assertThat(tooLong.status()).isEqualTo(Status.INVALID_ARGUMENT);
    assertThat(tooLong).hasMessageContaining("255");
    // 128 characters of two bytes each.
    assertThat(failure(() -> client.mkdirs("/" + "\u00e4".repeat(128))))
        .hasMessageContaining("255");
    client.mkdirs("/" + "\u00e4".repeat(127));
  }

  @Test
  void shouldNameThePathAndTheReasonWhenAnOperationCannotBeDone() throws Exception {
    client.create("/file", CreateOptions.DEFAULT).close();
    client.mkdirs("/directory/child");
    assertRefused(() -> client.open("/missing").close(), Status.NOT_FOUND, "/missing");
    assertRefused(() -> client.mkdirs("/file/below"), Status.NOT_A_DIRECTORY, "/file");
    assertRefused(() -> client.open("/directory").close(), Status.IS_A_DIRECTORY, "/directory");
    assertRefused(() -> client.delete("/directory", false), Status.NOT_EMPTY, "/directory");
    assertRefused(
        () -> client.create("/file", CreateOptions.DEFAULT).close(),
        Status.ALREADY_EXISTS,
        "/file");
    assertRefused(() -> client.truncate("/file", 1), Status.INVALID_ARGUMENT, "/file");
    assertRefused(
        () -> client.rename("/directory", "/directory/child/x", false),
        Status.INVALID_ARGUMENT,
        "/directory");
  }

  @Test
  void shouldNameTheServerThatCannotBeReached() throws Exception {
    assertUnreachable(URI.create("tako://no-such-host.invalid:7420"), "no-such-host.invalid");
    int port = new FreePorts(new Random()).onLoopback(1).get(0);
    assertUnreachable(URI.create("tako://127.0.0.1:" + port), "127.0.0.1:" + port);
  }

  @Test
  void shouldNameThePortWhereAnotherProtocolAnswers() throws Exception {
    try (ServerSocket web = new ServerSocket(0, 16, InetAddress.getLoopbackAddress())) {
      Thread answering =
          new Thread(
              () -> {
                while (!web.isClosed()) {
                  try (Socket caller = web.accept()) {
                    caller
                        .getOutputStream()
                        .write(
                            "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                  } catch (java.io.IOException closed) {
                    return;
                  }
                }
              });
      answering.setDaemon(true);
      answering.start();
      assertUnreachable(
          URI.create("tako://127.0.0.1:" + web.getLocalPort()), "127.0.0.1:" + web.getLocalPort());
    }
  }

  @Test
  void shouldRefuseMalformedConfiguration() throws Exception {
    Path file = directory.resolve("tako-site.xml");
    Files.writeString(file, "<configuration><property><name>fs.tako.transport</name>");
    assertThat(failure(() -> TakoConfig.load(file))).hasMessageContaining(file.toString());
    Files.writeString(
        file,
        "<configuration><property><name>fs.tako.transport</name><value>carrier-pigeon</value>"
            + "</property></configuration>");
    assertThat(failure(() -> TakoConfig.load(file)))
        .hasMessageContaining("fs.tako.transport")
        .hasMessageContaining("carrier-pigeon")
        .hasMessageContaining("shm");
  }

  @Test
  void shouldNotStartOnABadPoolOrSize() throws Exception {
    Path foreign = Files.createDirectory(directory.resolve("foreign"));
    Files.writeString(foreign.resolve("meta"), "not a pool");
    assertServerRefuses(foreign.toString(), "fs.tako.server.pool.path=" + foreign);
    assertServerRefuses("pool.size", "fs.tako.server.pool.size=lots");
    assertServerRefuses("pool.size", "fs.tako.server.pool.size=-1");
    assertServerRefuses(
        "does not fit",
        "fs.tako.server.pool.path=" + directory.resolve("huge"),
        "fs.tako.server.pool.size=10t");
    assertServerRefuses(
        "65535", "fs.tako.server.pool.path=" + directory.resolve("p"), "fs.tako.server.port=99999");
    assertThat(directory.resolve("huge/data")).doesNotExist();
  }

  @Test
  void shouldShareAPoolWhosePathIsTooLongForASocket() throws Exception {
    Path pool = directory.resolve("long".repeat(50));
    try (ServerProcess far = ServerProcess.start("fs.tako.server.pool.path", pool.toString());
        TakoClient shm = Clients.connect(far, "shm")) {
      shm.mkdirs("/there");
      assertThat(shm.getStatus("/there").directory()).isTrue();
    }
  }

  @Test
  void shouldNotStartOnAPoolItMayNotRead() throws Exception {
    Path pool = directory.resolve("pool");
    ServerProcess.start("fs.tako.server.pool.path", pool.toString()).close();
    Files.setPosixFilePermissions(
        pool.resolve("meta"), PosixFilePermissions.fromString("---------"));
    ServerProcess.Refusal refusal =
        ServerProcess.refusal(WITHOUT_PRIVILEGES, "fs.tako.server.pool.path=" + pool);
    assertThat(refusal.exitCode()).isNotZero();
    assertThat(refusal.output())
        .contains(pool.resolve("meta").toString(), "permission denied")
        .doesNotContain("\tat ");
  }

  private void assertServerRefuses(String named, String... settings) throws Exception {
    ServerProcess.Refusal refusal = ServerProcess.refusal(List.of(), settings);
    assertThat(refusal.exitCode()).isNotZero();
    assertThat(refusal.output()).contains(named).doesNotContain("\tat ");
  }

  private static void assertRefused(ThrowingCallable call, Status status, String named) {
    TakoException refused = failure(call);
    assertThat(refused.status()).isEqualTo(status);
    assertThat(refused).hasMessageContaining(named);
  }

  private static void assertUnreachable(URI uri, String named) throws Exception {
    TakoConfig config = new TakoConfig().set("fs.tako.client.timeout", "2s");
    try (TakoClient stranger = TakoClient.connect(uri, config, "me")) {
      assertThat(failure(() -> stranger.getStatus("/"))).hasMessageContaining(named);
    }
  }

  private static TakoException failure(ThrowingCallable call) {
    TakoException failure = catchThrowableOfType(call, TakoException.class);
    assertThat(failure).as("nothing was refused").isNotNull();
    return failure;
  }
}
