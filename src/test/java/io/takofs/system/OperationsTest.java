package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The operator's view of a server: commands and pages. */
@Timeout(180)
class OperationsTest {
  private static ServerProcess server;

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    server = ServerProcess.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  private static CommandLineRun tako(String... arguments) throws Exception {
    return CommandLineRun.of(Map.of("TAKO_URI", server.uri().toString()), arguments);
  }

  private static HttpResponse<String> get(ServerProcess shown, String path) throws Exception {
    try (TakoClient client = Clients.connect(shown, "auto")) {
      URI page = URI.create(client.serverStatus().getHttp()).resolve(path);
      return HttpClient.newHttpClient()
          .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  private static void write(TakoClient client, String path, byte[] bytes) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(bytes);
    }
  }

  @Test
  void shouldListWhoWrites() throws Exception {
    try (TakoClient client = Clients.connect(server, "shm");
        TakoOutputStream out = client.create("/being-written", CreateOptions.DEFAULT)) {
      out.write(1);
      out.hflush();
      assertThat(tako("leases").output())
          .containsPattern(
              "00:00:\\d\\d +00:00:\\d\\d +"
                  + System.getProperty("user.name")
                  + " .*/"
                  + ProcessHandle.current().pid()
                  + " +/being-written\n");
      assertThat(tako("leases", "--user", "stranger").output()).doesNotContain("/being-written");
      assertThat(tako("fsck", "-openforwrite").output())
          .contains("/being-written 1 bytes: OK, open for writing")
          .containsPattern("open for writing +1\n");
    }
  }

  @Test
  void shouldFindAByteThatChanged() throws Exception {
    try (ServerProcess damaged = ServerProcess.start();
        TakoClient client = Clients.connect(damaged, "shm")) {
      byte[] pattern = new byte[100_000];
      new java.util.Random(7).nextBytes(pattern);
      client.mkdirs("/d/e");
      write(client, "/d/e/good", new byte[] {1, 2, 3});
      write(client, "/d/e/large", pattern);
      Map<String, String> environment = Map.of("TAKO_URI", damaged.uri().toString());
      CommandLineRun healthy = CommandLineRun.of(environment, "fsck", "-files", "/d");
      assertThat(healthy.output())
          .contains("/d/e/good 3 bytes: OK\n/d/e/large 100000 bytes: OK\n")
          .contains("/d: 2 directories, 2 files, 98 KiB\n")
          .contains("HEALTHY");
      assertThat(healthy.code()).isZero();
      assertThat(CommandLineRun.of(environment, "fsck", "-locations", "/d").output())
          .contains(
              """
              /d/e/good 3 bytes: OK
                replication 1
                offset 0, 3 bytes: in the metadata
              /d/e/large 100000 bytes: OK
                replication 1
                offset 0, 100000 bytes: 1 copy on %s
              """
                  .formatted(damaged.uri().getAuthority()));
      flipByte(damaged.pool().resolve("data"), pattern, 50_000);
      CommandLineRun corrupt = CommandLineRun.of(environment, "fsck");
      assertThat(corrupt.code()).isEqualTo(1);
      assertThat(corrupt.output())
          .contains("/d/e/large: CORRUPT: ")
          .containsPattern("corrupt +1\n")
          .containsPattern("status +CORRUPT\n");
    }
  }

  /** Changes the byte {@code at} bytes after {@code pattern} in the data zone. */
  private static void flipByte(Path data, byte[] pattern, int at) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(data.toFile(), "rw");
        FileChannel channel = file.getChannel()) {
      ByteBuffer zone = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
      int unit = 64 << 10;
      for (int offset = 0; offset + unit <= zone.capacity(); offset += unit) {
        if (zone.slice(offset, unit).mismatch(ByteBuffer.wrap(pattern)) == unit) {
          zone.put(offset + at, (byte) ~zone.get(offset + at));
          return;
        }
      }
    }
    throw new AssertionError("the data is nowhere in the zone");
  }

  @Test
  void shouldStopChangesAndLetThemGoOn() throws Exception {
    assertThat(tako("safemode", "get").output()).isEqualTo("safe mode is off\n");
    assertThat(tako("safemode", "--user", "stranger", "enter").output())
        .contains("PERMISSION_DENIED");
    assertThat(tako("safemode", "enter").output()).isEqualTo("safe mode is on\n");
    try (TakoClient client = Clients.connect(server, "auto")) {
      assertThatThrownBy(() -> client.mkdirs("/refused")).isInstanceOf(TakoException.class);
      assertThat(get(server, "/metrics").body()).contains("\ntako_safe_mode 1\n");
      assertThat(tako("status").output()).contains("all changes are refused");
      Process wait =
          new ProcessBuilder(
                  ServerProcess.launcher(), "safemode", "--fs", server.uri().toString(), "wait")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      assertThat(tako("safemode", "leave").output()).isEqualTo("safe mode is off\n");
      assertThat(wait.waitFor()).isZero();
      client.mkdirs("/possible");
    }
  }

  @Test
  void shouldMeasureAndLeaveNothing() throws Exception {
    CommandLineRun bench = tako("bench", "--files", "50", "--size", "2");
    assertThat(bench.output())
        .containsPattern("create and close +\\d+ +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s\n")
        .containsPattern("read, 1 MiB buffers +\\d+ MiB");
    assertThat(bench.code()).isZero();
    try (TakoClient client = Clients.connect(server, "auto")) {
      assertThat(Clients.list(client, "/")).noneMatch(entry -> entry.name().contains("bench"));
    }
  }

  @Test
  void shouldShowForScriptsWhatHappens() throws Exception {
    assertThat(tako("top", "--once", "--interval", "0.2").output())
        .startsWith("tako top   " + server.uri())
        .containsPattern("OPERATION +PER S +MEDIAN")
        .containsPattern("get_server_status +\\d+ +[0-9.]+ [um]s")
        .containsPattern("CLIENT +USER");
  }

  @Test
  void shouldExplainItsConfiguration() throws Exception {
    assertThat(tako("config", "doc").output())
        .contains("## fs.tako.server.port\n")
        .contains("| Default | `7420` |");
    assertThat(tako("config", "doc", "fs.tako.client.timeout").output())
        .startsWith("## fs.tako.client.timeout\n")
        .doesNotContain("## fs.tako.server.port");
    assertThat(tako("config", "doc", "fs.tako.client.timeuot").output())
        .contains("unknown key fs.tako.client.timeuot; did you mean fs.tako.client.timeout?");
    Path site =
        Files.writeString(
            directory.resolve("site.xml"),
            "<configuration><property><name>fs.tako.client.timeout</name><value>9s</value>"
                + "</property><property><name>fs.tako.client.timeuot</name><value>1s</value>"
                + "</property></configuration>");
    CommandLineRun list = tako("config", "list", "--changed", "--conf", site.toString());
    assertThat(list.output())
        .contains("did you mean fs.tako.client.timeout?")
        .containsPattern("fs.tako.client.timeout +9s +" + site);
  }

  @Test
  void shouldCompleteItsCommands() throws Exception {
    Path script = Files.writeString(directory.resolve("tako"), tako("completion", "bash").output());
    Process bash =
        new ProcessBuilder(
                "bash",
                "-c",
                ". "
                    + script
                    + "; COMP_WORDS=(tako lea); COMP_CWORD=1; COMP_LINE='tako lea'; _complete_tako;"
                    + " echo ${COMPREPLY[@]}")
            .redirectErrorStream(true)
            .start();
    assertThat(new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("leases\n");
  }

  @Test
  void shouldLogObjectsWithNamedFacts() throws Exception {
    Path pid = directory.resolve("pid");
    try (ServerProcess logging =
        ServerProcess.startWith(Map.of("TAKO_LOG_FORMAT", "json"), List.of("--pid-file=" + pid))) {
      assertThat(pid).hasContent(logging.pid() + "\n");
      JsonObject serving =
          logging
              .log()
              .lines()
              .filter(line -> line.contains("\"serving\""))
              .map(line -> JsonParser.parseString(line).getAsJsonObject())
              .findFirst()
              .orElseThrow();
      assertThat(serving.get("level").getAsString()).isEqualTo("INFO");
      assertThat(serving.getAsJsonObject("facts").get("uri").getAsString())
          .isEqualTo(logging.uri().toString());
      assertThat(logging.terminate()).isZero();
      assertThat(pid).doesNotExist();
    }
  }

  @Test
  void shouldShowFilesAsAUserOnlyWhenItIsToldWhichOne() throws Exception {
    try (TakoClient client = Clients.connect(server, "auto")) {
      client.mkdirs("/shown");
    }
    assertThat(get(server, "/files").body()).contains("http.user").doesNotContain("shown/");
    try (ServerProcess asAlice = ServerProcess.start("fs.tako.server.http.user", "alice");
        TakoClient client = Clients.connect(asAlice, "auto")) {
      client.mkdirs("/open/below", 0755, true);
      client.mkdirs("/closed", 0700, false);
      write(client, "/closed/secret", new byte[] {1});
      // The server may have to look up alice's groups first.
      Poll.until(
          "a page for alice",
          Duration.ofSeconds(20),
          () -> get(asAlice, "/files?path=/open").body().contains("below/"));
      HttpResponse<String> refused = get(asAlice, "/files?path=/closed");
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).doesNotContain("secret").contains("alice");
      assertThat(get(asAlice, "/leases").body()).contains("none that alice may see");
      assertThat(get(asAlice, "/metrics").body()).contains("\ntako_files 1\n");
    }
  }

  @Test
  void shouldRefuseToStartWhereItsPagesCannotListen() throws Exception {
    URI taken = URI.create(get(server, "/").uri().toString());
    ServerProcess.Refusal refusal =
        ServerProcess.refusal(
            List.of(),
            "fs.tako.server.pool.path=" + directory.resolve("pool"),
            "fs.tako.server.pool.size=64m",
            "fs.tako.server.http.address=127.0.0.1:" + taken.getPort());
    assertThat(refusal.exitCode()).isEqualTo(1);
    assertThat(refusal.output()).contains("fs.tako.server.http.address");
  }

  @Test
  void shouldConnectAsTheConfigurationSays() throws Exception {
    Path site =
        Files.writeString(
            directory.resolve("site.xml"),
            "<configuration><property><name>fs.tako.transport</name><value>tcp</value></property>"
                + "</configuration>");
    assertThat(
            CommandLineRun.of(
                    Map.of("TAKO_URI", server.uri().toString(), "TAKO_CONF", site.toString()),
                    "status")
                .output())
        .containsPattern("transport +tcp");
  }

  @Test
  void shouldSayThatItServesForAsLongAsItDoes() throws Exception {
    assertThat(get(server, "/health").statusCode()).isEqualTo(200);
    try (ServerProcess frozen = ServerProcess.start();
        TakoClient client = Clients.connect(frozen, "auto")) {
      URI health = URI.create(client.serverStatus().getHttp()).resolve("/health");
      frozen.kill();
      Poll.until("nobody answers", Duration.ofSeconds(10), () -> !answers(health));
      frozen.restart();
      assertThat(get(frozen, "/health").statusCode()).isEqualTo(200);
    }
  }

  private static boolean answers(URI page) throws InterruptedException {
    try {
      HttpClient.newHttpClient()
          .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.discarding());
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
