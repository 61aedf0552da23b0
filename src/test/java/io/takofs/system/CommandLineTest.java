package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.takofs.base.TakoException;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.server.pool.Pool;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Output and exit codes of bin/tako, above all when something is wrong. */
@Timeout(120)
class CommandLineTest {
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

  private static CommandLineRun tako(ProcessBuilder.Redirect out, String... arguments)
      throws Exception {
    return CommandLineRun.of(out, Map.of("TAKO_URI", server.uri().toString()), arguments);
  }

  private static CommandLineRun tako(String... arguments) throws Exception {
    return tako(ProcessBuilder.Redirect.PIPE, arguments);
  }

  @Test
  void shouldFailWhenItsOutputCannotBeWritten() throws Exception {
    Path small = Files.writeString(directory.resolve("small"), "some text");
    assertThat(tako("fs", "put", small.toString(), "/small").code()).isZero();
    ProcessBuilder.Redirect full = ProcessBuilder.Redirect.to(new File("/dev/full"));
    for (String[] command :
        new String[][] {{"fs", "cat", "/small"}, {"fs", "ls", "/"}, {"status"}}) {
      CommandLineRun outcome = tako(full, command);
      assertThat(outcome.code()).as(String.join(" ", command)).isEqualTo(1);
      assertThat(outcome.output()).containsIgnoringCase("output");
    }
  }

  @Test
  void shouldLeaveNothingOfACopyThatFailed() throws Exception {
    Path large = Files.write(directory.resolve("large"), new byte[100_000_000]);
    CommandLineRun refused = tako("fs", "put", large.toString(), "/large");
    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.output()).startsWith("put: ").contains("space");
    try (TakoClient client = Clients.connect(server, "auto")) {
      assertThat(Clients.list(client, "/"))
          .extracting(PathStatus::name)
          .noneMatch(name -> name.contains("large"));
    }
  }

  @Test
  void shouldNotReplaceWhatIsThere() throws Exception {
    Path one = Files.writeString(directory.resolve("one"), "one");
    Path two = Files.writeString(directory.resolve("two"), "two");
    assertThat(tako("fs", "put", one.toString(), "/kept").code()).isZero();
    CommandLineRun refused = tako("fs", "put", two.toString(), "/kept");
    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.output()).isEqualTo("put: `/kept': File exists\n");
    assertThat(tako("fs", "cat", "/kept").output()).isEqualTo("one");
    assertThat(tako("fs", "put", "-f", two.toString(), "/kept").code()).isZero();
    assertThat(tako("fs", "cat", "/kept").output()).isEqualTo("two");
  }

  @Test
  void shouldDoWhatHadoopsShellDoes() throws Exception {
    Path local = Files.writeString(directory.resolve("local"), "some text");
    assertThat(tako("fs", "-mkdir", "-p", "/shell/a", "/shell/b").code()).isZero();
    assertThat(tako("fs", "-put", local.toString(), "/shell/a/x").code()).isZero();
    assertThat(tako("fs", "-cp", "/shell/a/*", "/shell/b").code()).isZero();
    assertThat(tako("fs", "-chmod", "-R", "o-r", "/shell/b").code()).isZero();
    assertThat(tako("fs", "-stat", "%A %b %n", "/shell/b/x").output()).isEqualTo("rw-r----- 9 x\n");
    assertThat(tako("fs", "-getmerge", "/shell/a", "/shell/b", local.toString()).code()).isZero();
    assertThat(local).hasContent("some textsome text");
    assertThat(tako("fs", "-test", "-e", "/shell/none").code()).isEqualTo(1);
    CommandLineRun some = tako("fs", "-ls", "-C", "/shell/none", "/shell/a");
    assertThat(some.code()).isEqualTo(1);
    assertThat(some.output())
        .isEqualTo("ls: `/shell/none': No such file or directory\n/shell/a/x\n");
    String there = server.uri() + "/shell/a/x";
    assertThat(tako("fs", "--user", "stranger", "-cat", there).output()).isEqualTo("some text");
    assertThat(tako("fs", "--user", "stranger", "-rm", there).output()).contains("stranger");
    assertThat(tako("fs", "-usage", "put").output()).contains(" -put ");
  }

  @Test
  void shouldLookAtNamedDirectoriesWhateverTheEnvironmentNames() throws Exception {
    CommandLineRun run =
        CommandLineRun.of(
            Map.of("TAKO_URI", "nonsense"), "status", "--dir", directory.resolve("dev").toString());
    assertThat(run.output()).contains("no local server runs in").doesNotContain("nonsense");
  }

  @Test
  void shouldKeepNamesInTheLocalesThatHaveAsciiAlone() throws Exception {
    List<List<String>> locales =
        List.of(List.of(), List.of("LC_ALL=C"), List.of("LANG=C"), List.of("LC_CTYPE=POSIX"));
    for (int i = 0; i < locales.size(); i++) {
      String name = "/ä€" + i;
      List<String> environment = new ArrayList<>(locales.get(i));
      environment.add("TAKO_URI=" + server.uri());
      assertThat(touch(environment, "/ü" + i)).isZero();
      assertThat(touch(environment, name)).isZero();
      try (TakoClient client = Clients.connect(server, "auto")) {
        assertThat(Clients.list(client, "/"))
            .extracting(PathStatus::name)
            .contains(name.substring(1), "ü" + i);
      }
    }
  }

  /** Makes a file, with no other variables than these and the PATH. */
  private static int touch(List<String> environment, String name) throws Exception {
    List<String> command = new ArrayList<>(List.of("env", "-i", "PATH=" + System.getenv("PATH")));
    command.addAll(environment);
    // These tests may run in such a locale themselves, and would lose the name: bash makes it.
    StringBuilder octal = new StringBuilder();
    for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
      octal.append(String.format(Locale.ROOT, "\\%03o", each & 0xff));
    }
    String script = "exec \"$0\" fs -touchz $'" + octal + "'";
    command.addAll(List.of("bash", "-c", script, ServerProcess.launcher()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(said).isEmpty();
    return process.waitFor();
  }

  @Test
  void shouldAllowNativeAccessWhereJavaWouldWarnOfIt() throws Exception {
    String option = "--enable-native-access=ALL-UNNAMED";
    assertThat(argumentsOfJava("25.0.1")).contains(option).contains("io.takofs.cli.Tako version");
    assertThat(argumentsOfJava("22")).contains(option);
    assertThat(argumentsOfJava("21.0.2")).contains("io.takofs.cli.Tako").doesNotContain(option);
  }

  /** The options that an installation passes on to a Java of this version; nothing runs. */
  private String argumentsOfJava(String version) throws Exception {
    Path home = Files.createDirectories(directory.resolve(version));
    Files.createDirectories(home.resolve("lib"));
    Path bin = Files.createDirectories(home.resolve("bin"));
    Files.copy(Path.of(ServerProcess.launcher()), bin.resolve("tako"));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    Path java = Files.writeString(bin.resolve("java"), "#!/bin/sh\necho \"$@\"\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    ProcessBuilder builder = new ProcessBuilder(bin.resolve("tako").toString(), "version");
    builder.environment().put("JAVA_HOME", home.toString());
    builder.environment().put("XDG_CACHE_HOME", "/dev/null"); // so that it makes no class archive
    Process process = builder.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return said;
  }

  @Test
  void shouldRefuseAnUnknownFormatOfTheLog() throws Exception {
    CommandLineRun refused = CommandLineRun.of(Map.of("TAKO_LOG_FORMAT", "jsn"), "version");
    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.output())
        .isEqualTo("tako: TAKO_LOG_FORMAT is 'jsn': it must be text or json\n");
    assertThat(CommandLineRun.of(Map.of("TAKO_LOG_FORMAT", "text"), "version").code()).isZero();
  }

  @Test
  void shouldPrintCommandsThatAShellTakesAsTheyAre() throws Exception {
    String dev = directory.resolve("it's a dev").toString();
    String quoted = "'" + dev.replace("'", "'\\''");
    try {
      CommandLineRun run = tako("dev", "--dir", dev, "--pool-size", "64m");
      assertThat(run.code()).as(run.output()).isZero();
      assertThat(run.output())
          .contains("export HADOOP_CONF_DIR=" + quoted + "/conf'\n")
          .contains(" dev stop --dir " + quoted + "'\n");
    } finally {
      assertThat(tako("dev", "stop", "--dir", dev).output()).isEqualTo("stopped\n");
    }
  }

  @Test
  void shouldSayNothingWhenNobodyReadsItsOutput() throws Exception {
    ProcessBuilder builder = new ProcessBuilder(ServerProcess.launcher(), "config", "doc");
    builder.environment().keySet().removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    Process process = builder.start();
    process.getOutputStream().close();
    process.getInputStream().close();
    assertThat(process.getErrorStream().readAllBytes()).isEmpty();
    assertThat(process.waitFor()).isZero();
  }

  @Test
  void shouldNameAUriThatNamesNoServer() throws Exception {
    for (String uri :
        List.of("tako://a b", "hdfs://localhost:8020", "tako:///", "tako://host:99999", "foo")) {
      CommandLineRun outcome = tako("status", uri);
      assertThat(outcome.code()).as(uri).isEqualTo(1);
      assertThat(outcome.output()).startsWith("tako: '" + uri + "'").doesNotContain("\tat ");
    }
    assertThat(tako("doctor", "foo").output()).startsWith("tako: 'foo'");
  }

  @Test
  void shouldHelp() throws Exception {
    for (String line : List.of("help", "-h", "--help")) {
      CommandLineRun all = tako(line);
      assertThat(all.code()).as(line).isZero();
      assertThat(all.output()).as(line).startsWith("Usage: tako ").contains("doctor");
    }
    for (String line :
        List.of("help dev stop", "dev stop -h", "help fs", "fs -h", "help server", "server -h")) {
      CommandLineRun one = tako(line.split(" "));
      assertThat(one.code()).as(line).isZero();
      String command = line.replace("help ", "").replace(" -h", "");
      assertThat(one.output()).as(line).startsWith("Usage: tako " + command);
    }
    assertThat(tako("fs", "--user", "stranger", "-help", "ls").output()).startsWith("-ls ");
    assertThat(tako("fs", "--user", "stranger", "-ls", "-h", "/").code()).isZero();
  }

  @Test
  void shouldSayThatAPoolKeepsItsSize() throws Exception {
    String dir = directory.resolve("dev").toString();
    String pool = directory.resolve("pool").toString();
    String kept = pool + " has 64 MiB and keeps that size";
    try {
      CommandLineRun made = tako("dev", "--dir", dir, "--pool", pool, "--pool-size", "64m");
      assertThat(made.code()).as(made.output()).isZero();
      assertThat(made.output()).doesNotContain("keeps that size");
      assertThat(tako("dev", "--dir", dir, "--pool-size", "128m").output()).contains(kept);
      assertThat(tako("dev", "stop", "--dir", dir, "--keep-pool").code()).isZero();
      assertThat(tako("dev", "--dir", dir, "--pool", pool, "--pool-size", "128m").output())
          .contains(kept);
      assertThat(tako("dev", "--dir", dir, "--pool-size", "12q").code()).isEqualTo(2);
    } finally {
      tako("dev", "stop", "--dir", dir);
    }
  }

  @Test
  void shouldStartWhatDoesNotRunOfACluster() throws Exception {
    Path dev = directory.resolve("dev");
    String[] start = {"dev", "--dir", dev.toString(), "--servers", "2", "--pool-size", "64m"};
    try {
      CommandLineRun made = tako(start);
      assertThat(made.code()).as(made.output()).isZero();
      ProcessHandle second =
          ProcessHandle.of(Long.parseLong(Files.readString(dev.resolve("server-2/pid")).strip()))
              .orElseThrow();
      second.destroyForcibly();
      second.onExit().join();
      String uri = Files.readString(dev.resolve("uri")).strip();
      assertThat(tako("doctor", uri).output())
          .containsPattern("id +1\n.*\n.*\n +reached +yes")
          .containsPattern("id +2\n.*\n.*\n +reached +no")
          .containsPattern("problems\n +server 2 at 127.* cannot be reached from here");
      CommandLineRun again = tako(start);
      assertThat(again.code()).as(again.output()).isZero();
      assertThat(again.output()).startsWith("1 of 2 servers ran, the others are started:\n");
      assertThat(tako(start).output()).startsWith("already running:\n");
      String conf = dev.resolve("conf/tako-site.xml").toString();
      assertThat(tako("cluster", "status", "--conf", conf).output())
          .containsPattern("server +1 127.*\nserver +2 127")
          .doesNotContain("silent");
    } finally {
      tako("dev", "stop", "--dir", dev.toString());
    }
  }

  @Test
  void shouldSayWhichServerOfAClusterLostItsPool() throws Exception {
    Path dev = directory.resolve("dev");
    String pool = directory.resolve("pool").toString();
    String[] start = {"dev", "--dir", dev.toString()};
    try {
      CommandLineRun made =
          tako(with(start, "--servers", "2", "--pool-size", "64m", "--pool", pool));
      assertThat(made.code()).as(made.output()).isZero();
      assertThat(made.output())
          .containsPattern("serves at +tako://127.0.0.1:[0-9]+ \\(server 1, process [0-9]+\\)\n")
          .containsPattern("and at +tako://127.0.0.2:[0-9]+ \\(server 2, process [0-9]+\\)\n");
      tako("dev", "stop", "--dir", dev.toString(), "--keep-pool");
      assertThat(Pool.delete(Path.of(pool + "-2"))).isTrue();

      CommandLineRun elsewhere = tako(with(start, "--pool", pool + "-other"));
      assertThat(elsewhere.code()).as(elsewhere.output()).isEqualTo(2);
      assertThat(elsewhere.output()).contains("has its pool at " + pool + ";");

      CommandLineRun lost = tako(start);
      assertThat(lost.code()).as(lost.output()).isEqualTo(1);
      assertThat(lost.output())
          .contains("a server has ended: ", pool + "-2 held pool", "with --format")
          .contains("its log: " + dev.resolve("server-2/server.log"));
      CommandLineRun other = tako("status", "--dir", dev.toString());
      assertThat(other.code()).as("the other one goes on: %s", other.output()).isZero();

      CommandLineRun again = tako(with(start, "--format"));
      assertThat(again.code()).as(again.output()).isZero();
      assertThat(again.output()).containsPattern("127.0.0.2:[0-9]+ \\(server 3, ");

      tako("dev", "stop", "--dir", dev.toString(), "--keep-pool");
      assertThat(Pool.delete(Path.of(pool))).isTrue();
      assertThat(Pool.delete(Path.of(pool + "-2"))).isTrue();
      CommandLineRun none = tako(with(start, "--format"));
      assertThat(none.code()).as(none.output()).isEqualTo(2);
      assertThat(none.output()).contains("2 of 2 servers lost their pools");
    } finally {
      tako("dev", "stop", "--dir", dev.toString());
    }
  }

  private static String[] with(String[] words, String... more) {
    return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void shouldNameTheCommandsThatItKnows() throws Exception {
    CommandLineRun near = tako("staus");
    assertThat(near.code()).isEqualTo(2);
    assertThat(near.output()).startsWith("tako: no such command: staus; did you mean status? (");
    CommandLineRun far = tako("help", "frobnicate");
    assertThat(far.code()).isEqualTo(2);
    assertThat(far.output())
        .startsWith("tako: no such command: frobnicate; there are server, dev, fs, status");
  }

  @Test
  void shouldRefuseAKeyThatDoesNotExist() throws Exception {
    CommandLineRun run = tako("server", "-D", "fs.tako.server.qarantine=2s");
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.output()).contains("did you mean fs.tako.server.quarantine?");
  }

  @Test
  void shouldSayWhatThisHostCanDo() throws Exception {
    CommandLineRun outcome = CommandLineRun.of(Map.of(), "doctor");
    assertThat(outcome.code()).isZero();
    assertThat(outcome.output())
        .containsPattern("native library\n  loaded +yes")
        .containsPattern("shm\n  usable +yes")
        .containsPattern("dev shm free +[0-9.]+ [KMGT]iB")
        .containsPattern("tcp\n  usable +yes")
        .containsPattern("memlock limit +(unlimited|[0-9.]+ [KMGT]?i?B)")
        .doesNotContain("\n  this host has no RDMA device") // a remark, and no problem
        .doesNotContain("\nserver\n");
  }

  @Test
  void shouldSayHowItReachesAServer() throws Exception {
    for (CommandLineRun outcome :
        List.of(CommandLineRun.of(Map.of(), "doctor", server.uri().toString()), tako("doctor"))) {
      assertThat(outcome.code()).isZero();
      assertThat(outcome.output()).containsPattern("server\n  uri .*\n  transport +shm: same host");
    }
  }

  @Test
  void shouldFailWhenItCannotReachTheServerThatItWasAskedFor() throws Exception {
    CommandLineRun outcome = tako("doctor", "--json", "tako://localhost:1");
    assertThat(outcome.code()).isEqualTo(1);
    JsonObject diagnosis = JsonParser.parseString(outcome.output()).getAsJsonObject();
    assertThat(diagnosis.getAsJsonObject("shm").get("usable").getAsBoolean()).isTrue();
    assertThat(diagnosis.getAsJsonObject("server").get("transport").getAsString())
        .isEqualTo("none");
    assertThat(diagnosis.getAsJsonArray("problems"))
        .extracting(each -> each.getAsJsonObject().get("problem").getAsString())
        .anyMatch(problem -> problem.contains("localhost:1"));
    assertThat(diagnosis.getAsJsonArray("problems"))
        .allMatch(each -> !each.getAsJsonObject().get("advice").getAsString().isEmpty());
  }

  @Test
  void shouldShowTheCountersOfEachTransport() throws Exception {
    assertThat(tako("status").output())
        .containsPattern("counters of (shm|tcp)\n(  .*\n)*  connects +[1-9]")
        .contains(" of deleted files in quarantine")
        .doesNotContain("counters of verbs"); // all are 0
    JsonArray transports =
        JsonParser.parseString(tako("status", "--json").output())
            .getAsJsonObject()
            .getAsJsonObject("status")
            .getAsJsonArray("transports");
    assertThat(transports)
        .extracting(each -> each.getAsJsonObject().get("transport").getAsString())
        .contains("shm", "tcp");
  }

  @Test
  void shouldSetAndShowAQuota() throws Exception {
    try (TakoClient client = Clients.connect(server, "auto")) {
      client.mkdirs("/limited/a");
    }
    assertThat(tako("quota", "/limited").output()).contains("/limited has no quota");
    CommandLineRun set = tako("quota", "/limited", "--names", "2", "--space", "10m");
    assertThat(set.code()).as(set.output()).isZero();
    assertThat(set.output()).contains("2 of 2", "0 B of 10 MiB");
    try (TakoClient client = Clients.connect(server, "auto")) {
      assertThatThrownBy(() -> client.mkdirs("/limited/b"))
          .isInstanceOf(TakoException.class)
          .hasMessageContaining("/limited is exceeded");
    }
    assertThat(tako("quota", "/limited", "--names", "none").output()).contains("without a limit");
    assertThat(tako("quota", "/limited", "--space", "none").output()).contains("no quota");
    CommandLineRun wrong = tako("quota", "/limited", "--names", "many");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.output()).contains("--names many");
  }
}
