package io.takofs.hadoop.filesystem;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.hadoop.TestServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that people type after {@code hadoop fs}. */
class ShellTest {
  @TempDir Path local;
  private Configuration conf;

  @BeforeEach
  void connect() throws Exception {
    conf = new Configuration();
    TestServer.configure(conf);
    shell("-rm", "-r", "-f", "-skipTrash", "/shell");
    assertThat(shell("-mkdir", "-p", "/shell/a/b")).isEmpty();
  }

  /** The output of a command that succeeds. */
  private String shell(String... command) throws Exception {
    PrintStream stdout = System.out;
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    System.setOut(new PrintStream(output, true, UTF_8));
    try {
      assertThat(ToolRunner.run(conf, new FsShell(), command))
          .as(String.join(" ", command))
          .isEqualTo(0);
    } finally {
      System.setOut(stdout);
    }
    return output.toString(UTF_8);
  }

  private int exitCode(String... command) throws Exception {
    return ToolRunner.run(conf, new FsShell(), command);
  }

  @Test
  void shouldCopyThereAndBack() throws Exception {
    byte[] content = new byte[3_000_000];
    new java.util.Random(5).nextBytes(content);
    Path file = Files.write(local.resolve("file"), content);
    shell("-put", file.toString(), "/shell/a/file");
    shell("-cp", "/shell/a/file", "/shell/a/b/copy");
    shell("-mv", "/shell/a/b/copy", "/shell/moved");
    shell("-get", "/shell/moved", local.resolve("back").toString());
    assertThat(Files.readAllBytes(local.resolve("back"))).isEqualTo(content);
    String[] sums = shell("-checksum", "/shell/a/file", "/shell/moved").split("\\s+", -1);
    assertThat(sums[1]).isEqualTo("COMPOSITE-CRC32C");
    assertThat(sums[5]).isEqualTo(sums[2]);
  }

  @Test
  void shouldShowWhatIsThere() throws Exception {
    Path file = Files.writeString(local.resolve("file"), "caf\u00e9\n");
    shell("-put", file.toString(), "/shell/file");
    assertThat(shell("-cat", "/shell/file")).isEqualTo("caf\u00e9\n");
    shell("-appendToFile", file.toString(), "/shell/file");
    assertThat(shell("-tail", "/shell/file")).isEqualTo("caf\u00e9\ncaf\u00e9\n");
    assertThat(shell("-stat", "%n %b %F", "/shell/file").strip()).isEqualTo("file 12 regular file");
    assertThat(shell("-ls", "-C", "-R", "/shell").split("\n"))
        .containsExactlyInAnyOrder("/shell/a", "/shell/a/b", "/shell/file");
    assertThat(shell("-du", "-s", "/shell")).startsWith("12 ");
    assertThat(shell("-count", "/shell").strip().split("\\s+"))
        .containsExactly("3", "1", "12", "/shell");
    assertThat(shell("-df", "/")).contains("tako://");
    assertThat(shell("-find", "/shell", "-name", "fil*").strip()).isEqualTo("/shell/file");
    shell("-truncate", "-w", "6", "/shell/file");
    assertThat(shell("-cat", "/shell/file")).isEqualTo("caf\u00e9\n");
  }

  @Test
  void shouldChangeWhoMayDoWhat() throws Exception {
    shell("-touchz", "/shell/file");
    shell("-chmod", "1750", "/shell/a");
    shell("-chown", "alice:wonderland", "/shell/a");
    assertThat(shell("-stat", "%a %u %g", "/shell/a").strip()).isEqualTo("1750 alice wonderland");
    shell("-setrep", "3", "/shell/file");
    assertThat(shell("-stat", "%r", "/shell/file").strip()).isEqualTo("3");
    shell("-touch", "-m", "-t", "20200102:030405", "/shell/file");
    assertThat(shell("-stat", "%y", "/shell/file")).startsWith("2020-01-0");
  }

  @Test
  void shouldFailAsOthersDo() throws Exception {
    assertThat(exitCode("-cat", "/shell/missing")).isEqualTo(1);
    assertThat(exitCode("-rmdir", "/shell/a")).isEqualTo(1);
    assertThat(exitCode("-mkdir", "/shell/a")).isEqualTo(1);
    assertThat(exitCode("-test", "-d", "/shell/a")).isZero();
    assertThat(exitCode("-test", "-e", "/shell/missing")).isEqualTo(1);
  }
}
