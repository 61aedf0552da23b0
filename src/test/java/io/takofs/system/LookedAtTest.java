package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pages in a browser, and {@code tako top} in a terminal, as people see them. Pictures are left
 * in {@code target/seen}.
 */
@Timeout(300)
class LookedAtTest {
  private static final Path SEEN = Path.of("target", "seen");
  private static final String HOSTILE = "<img src=x onerror=alert(1)>";
  private static final Duration SAMPLED = Duration.ofSeconds(90);

  private static ServerProcess server;
  private static TakoClient client;
  private static TakoOutputStream open;
  private static URI pages;

  @TempDir private static Path directory;
  private static Browser browser;

  @BeforeAll
  static void start() throws Exception {
    Files.createDirectories(SEEN);
    server = ServerProcess.start("fs.tako.server.http.user", System.getProperty("user.name"));
    client = Clients.connect(server, "shm");
    client.mkdirs("/user/alice/" + HOSTILE.replace("/", ""));
    for (int i = 0; i < 30; i++) {
      try (TakoOutputStream out = client.create("/user/alice/f" + i, CreateOptions.DEFAULT)) {
        out.write(new byte[100_000]);
      }
    }
    open = client.create("/user/alice/log", CreateOptions.DEFAULT);
    pages = URI.create(client.serverStatus().getHttp());
  }

  @AfterAll
  static void stop() throws Exception {
    if (browser != null) {
      browser.close();
    }
    open.close();
    client.close();
    server.close();
  }

  /** The DOM of a page, without the headings that each cell of its tables has. */
  private static String look(String path, String picture) throws Exception {
    return PageLook.look(browser(), pages.resolve(path), picture, PageLook.WIDE, false)
        .replaceAll(" (data-label|class)=\"[^\"]*\"", "");
  }

  private static Browser browser() throws Exception {
    Browser.assumeInstalled();
    if (browser == null) {
      browser = new Browser(directory);
    }
    return browser;
  }

  private static int samplesOfLatency() throws Exception {
    client.getStatus("/user/alice"); // the load that they show
    HttpRequest request = HttpRequest.newBuilder(pages.resolve("/history")).build();
    String history =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    int count = 0;
    for (JsonElement each :
        JsonParser.parseString(history)
            .getAsJsonObject()
            .getAsJsonObject("latency_ns")
            .getAsJsonArray("median")) {
      count += each.isJsonNull() ? 0 : 1;
    }
    return count;
  }

  @Test
  void shouldShowTheServerInABrowserAndKeepItUpToDate() throws Exception {
    Browser.assumeInstalled();
    Poll.until(
        "there are samples",
        SAMPLED,
        Duration.ofMillis(200).toNanos(),
        () -> samplesOfLatency() > 2);
    assertThat(look("/", "overview"))
        .contains(server.uri().toString())
        .contains("<td>Files</td><td>31 (1 open for writing)</td>")
        .contains("<td>commit_extents</td>")
        .contains("<td>shm</td>");
    browser.evaluate("document.querySelector('main').id = 'before'");
    Poll.until(
        "the page is fetched again",
        SAMPLED,
        () -> browser.evaluate("!document.getElementById('before')").getAsBoolean());
    assertThat(browser.dom()).doesNotContain("stale");
    assertThat(browser.evaluate("document.querySelectorAll('#charts canvas').length").getAsInt())
        .isEqualTo(4);
    assertThat(browser.errors()).isEmpty();
  }

  @Test
  void shouldShowThatItIsAlone() throws Exception {
    assertThat(look("/cluster", "cluster"))
        .contains("<td>1 (this one)</td><td><a href=\"" + pages + "\">")
        .contains(server.uri().getRawAuthority() + "</a></td><td>up</td>")
        .contains("<td>well</td>");
  }

  @Test
  void shouldShowFilesInABrowserAndRunNothingOfTheirNames() throws Exception {
    assertThat(look("/files?path=/user/alice", "files"))
        .contains("f29</td><td>98 KiB</td><td>-rw-r--r--</td>")
        .contains("being written")
        .contains("&lt;img src=x onerror=alert(1)&gt;")
        .doesNotContain("<img");
  }

  @Test
  void shouldShowClientsLeasesAndConfigurationInABrowser() throws Exception {
    String me = "/" + ProcessHandle.current().pid() + "</td>";
    assertThat(look("/clients", "clients")).contains(me).contains("<td>shm</td>");
    assertThat(look("/leases", "leases")).contains("<td>/user/alice/log</td>").contains(me);
    assertThat(look("/config", "config"))
        .contains("fs.tako.server.http.user</td><td>" + System.getProperty("user.name"))
        .contains("command line");
  }

  @Test
  void shouldRedrawInATerminal() throws Exception {
    Path typescript = SEEN.resolve("top.typescript").toAbsolutePath();
    Files.deleteIfExists(typescript);
    String top = ServerProcess.launcher() + " top --interval 0.5 --count 3 " + server.uri();
    ProcessBuilder builder =
        new ProcessBuilder("script", "-qec", top, typescript.toString())
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("TERM", "xterm");
    Process terminal = builder.start();
    while (terminal.isAlive()) {
      client.getStatus("/user/alice"); // the load that it shows
    }
    assertThat(terminal.exitValue()).isZero();
    String[] screens = Files.readString(typescript).split("\u001b\\[H", -1);
    assertThat(screens).hasSize(4);
    for (String screen : Arrays.copyOfRange(screens, 1, screens.length)) {
      assertThat(screen)
          .contains("tako top   " + server.uri())
          .contains("files      31, 1 open for writing")
          .containsPattern("get_file +[1-9]\\d+ +[0-9.]+ [num]s")
          .containsPattern("/" + ProcessHandle.current().pid() + " +\\S+ +shm +[1-9]\\d+")
          .contains("\u001b[K\r\n");
    }
  }
}
