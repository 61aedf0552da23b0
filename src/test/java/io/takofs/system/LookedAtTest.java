package io.takofs.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
  private static final int CHROMIUM_S = 90;

  private static ServerProcess server;
  private static TakoClient client;
  private static TakoOutputStream open;
  private static URI pages;

  @TempDir private Path directory;

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
    open.close();
    client.close();
    server.close();
  }

  private static boolean isInstalled(String program) {
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
        .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
  }

  /** The text of a page after its script has run for a while, and a picture of it. */
  private String look(String path, String picture) throws Exception {
    assumeTrue(isInstalled("chromium"), "chromium is not installed");
    Path screenshot = SEEN.resolve(picture + ".png").toAbsolutePath();
    Files.deleteIfExists(screenshot);
    List<String> command = new ArrayList<>();
    command.add("chromium");
    command.add("--headless=new");
    command.add("--no-sandbox");
    command.add("--disable-gpu");
    command.add("--hide-scrollbars");
    command.add("--window-size=1200,1500");
    command.add("--user-data-dir=" + directory.resolve("chromium"));
    command.add("--virtual-time-budget=7000"); // the page is fetched again after 5 s
    command.add("--screenshot=" + screenshot);
    command.add("--dump-dom");
    command.add(pages.resolve(path).toString());
    Process browser =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try {
      String dom = new String(browser.getInputStream().readAllBytes(), UTF_8);
      assertThat(browser.waitFor(CHROMIUM_S, TimeUnit.SECONDS)).isTrue();
      assertThat(Files.size(screenshot)).isGreaterThan(10_000);
      return dom;
    } finally {
      browser.destroyForcibly();
    }
  }

  @Test
  void shouldShowTheServerInABrowser() throws Exception {
    assertThat(look("/", "overview"))
        .contains(server.uri().toString())
        .contains("<td>Files</td><td>31 (1 open for writing)</td>")
        .contains("<td>commit_extents</td>")
        .contains("<td>shm</td>")
        .doesNotContain("stale");
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
