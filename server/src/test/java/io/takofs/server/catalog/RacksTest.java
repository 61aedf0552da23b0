package io.takofs.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.server.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RacksTest {
  @TempDir private Path directory;

  private Racks racks(String body, long limitMs) throws IOException {
    Path script = directory.resolve("script");
    Files.writeString(script, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return new Racks(script.toString(), limitMs);
  }

  @Test
  void shouldAskTheScriptOncePerHost() throws IOException {
    Path asked = directory.resolve("asked");
    Racks racks = racks("echo $1 >> " + asked + "; echo /rack-of-$1", 60_000);
    assertThat(racks.of("10.0.0.1")).isEqualTo("/rack-of-10.0.0.1");
    assertThat(racks.of("10.0.0.2")).isEqualTo("/rack-of-10.0.0.2");
    assertThat(racks.of("10.0.0.1")).isEqualTo("/rack-of-10.0.0.1");
    assertThat(Files.readAllLines(asked)).containsExactly("10.0.0.1", "10.0.0.2");
  }

  @Test
  void shouldAskForAnAddressAsHadoopDoes() throws IOException {
    Racks racks = racks("case $1 in 127.0.0.1 | ::1) echo /here ;; *) echo /none ;; esac", 60_000);
    assertThat(racks.of("localhost")).isEqualTo("/here");
  }

  @Test
  void shouldAskAgainWhenTheScriptWasOfNoUse() throws IOException {
    Path file = directory.resolve("rack");
    Racks racks = racks("cat " + file, 60_000);
    assertThat(racks.of("a")).isEqualTo(Racks.DEFAULT);
    Files.writeString(file, "/r7");
    assertThat(racks.of("a")).isEqualTo("/r7");
  }

  @Test
  void shouldTakeTheDefaultWhenTheScriptIsOfNoUse() throws IOException {
    assertThat(new Racks("").of("10.0.0.1")).isEqualTo(Racks.DEFAULT);
    assertThat(new Racks("/nonexistent/script").of("10.0.0.1")).isEqualTo(Racks.DEFAULT);
    assertThat(racks("echo /r; exit 1", 60_000).of("10.0.0.1")).isEqualTo(Racks.DEFAULT);
    assertThat(racks("echo no rack", 60_000).of("10.0.0.1")).isEqualTo(Racks.DEFAULT);
    assertThat(racks("sleep 600", 300).of("10.0.0.1")).isEqualTo(Racks.DEFAULT);
    assertThat(racks("yes /rack", 300).of("10.0.0.1")).isEqualTo(Racks.DEFAULT);
  }

  @Test
  void shouldSayWhatIsWrongUntilTheScriptIsOfUse() throws IOException {
    Path file = directory.resolve("rack");
    Racks racks = racks("cat " + file, 60_000);
    assertThat(racks.problem()).isEmpty();
    racks.of("a");
    assertThat(racks.problem()).isPresent();
    assertThat(racks.problem().get())
        .contains("script of net.topology.script.file.name", "the rack of a (its exit code is 1")
        .contains("it says: cat:", file + ": No such file", "): it is /default-rack");
    Files.writeString(file, "/r7");
    racks.of("a");
    assertThat(racks.problem()).isEmpty();
  }

  @Test
  void shouldSayThatTheScriptHangs() throws IOException {
    Racks racks = racks("echo waiting >&2; sleep 600", 300);
    racks.of("a");
    assertThat(racks.problem().orElse("")).contains("(it did not end in 300 ms");
    // A busy machine may not come to the script's first command in that time.
    TestServer.await(
        () -> {
          racks.of("a");
          return racks.problem().orElse("").contains(" in 300 ms, and it says: waiting)");
        });
  }

  @Test
  void shouldNotWaitForAProcessThatTheScriptLeaves() throws IOException {
    Path pid = directory.resolve("pid");
    assertThat(racks("echo /r; sleep 600 & echo $! > " + pid, 60_000).of("10.0.0.1"))
        .isEqualTo("/r");
    ProcessHandle left =
        ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
    assertThat(left.isAlive()).as("it has the script's output open").isTrue();
    left.destroyForcibly();
  }
}
