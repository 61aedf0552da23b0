package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The files that {@code tako dev} trusts. */
@Timeout(60)
class DevDirectoryTest {
  @TempDir Path directory;

  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
  }

  private DevDirectory dev(String name) {
    DevDirectory dev = new DevDirectory();
    new CommandLine(CommandLine.Model.CommandSpec.create().addMixin("dev", mixin(dev)))
        .parseArgs("--dir", directory.resolve(name).toString());
    return dev;
  }

  private static CommandLine.Model.CommandSpec mixin(DevDirectory dev) {
    return CommandLine.Model.CommandSpec.forAnnotatedObject(dev);
  }

  /** Waits for its input within the shell, which else may become the command that it runs. */
  private Process start(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("sh", "-c", "read line", "bin/tako"));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).start();
    started.add(process);
    return process;
  }

  private static void giveAway(Path path) {
    try {
      Files.setAttribute(path, "unix:uid", 65534);
    } catch (IOException e) {
      Assumptions.abort("needs the right to give files away: " + e.getMessage());
    }
  }

  @Test
  void shouldMakeADirectoryThatNobodyElseCanWriteTo() throws IOException {
    DevDirectory dev = dev("new");
    dev.make();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dev.path())))
        .isEqualTo("rwx------");
    assertThat(dev.configuration()).isDirectory();
    dev.make();
  }

  @Test
  void shouldRefuseADirectoryOfAnotherUser() throws IOException {
    DevDirectory dev = dev("theirs");
    dev.make();
    Files.writeString(dev.first().pidFile(), "1");
    Files.writeString(dev.first().uriFile(), "tako://127.0.0.1:7420");
    giveAway(dev.path());
    assertThatThrownBy(dev::make).hasMessageContaining("belongs to another user");
    assertThatThrownBy(dev::processes).hasMessageContaining("belongs to another user");
    assertThatThrownBy(dev::uri).hasMessageContaining("belongs to another user");
  }

  @Test
  void shouldFollowNoSymbolicLink() throws IOException {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Files.createSymbolicLink(directory.resolve("link"), elsewhere);
    assertThatThrownBy(dev("link")::make).hasMessageContaining("symbolic link");
    assertThat(elsewhere.toFile().list()).isEmpty();
  }

  @Test
  void shouldStopNothingButItsOwnServer() throws Exception {
    DevDirectory dev = dev("mine");
    dev.make();
    Process other = start("server", "--uri-file=/elsewhere");
    Files.writeString(dev.first().pidFile(), other.pid() + "\n");
    assertThat(dev.processes()).isEmpty();
    StringWriter out = new StringWriter();
    int code =
        Tako.commandLine()
            .setOut(new PrintWriter(out))
            .execute("dev", "stop", "--dir", dev.path().toString());
    assertThat(code).isZero();
    assertThat(out.toString()).contains("no local server runs in");
    assertThat(other.isAlive()).isTrue();
    Process server = start("server", dev.first().uriFileOption());
    Files.writeString(dev.first().pidFile(), server.pid() + "\n");
    assertThat(dev.processes()).extracting(ProcessHandle::pid).containsExactly(server.pid());
  }

  @Test
  void shouldNameAServerThatRunsWhenTheFirstOneDoesNot() throws Exception {
    DevDirectory dev = dev("cluster");
    dev.make();
    Files.write(dev.addresses(), List.of("127.0.0.1:7001", "127.0.0.2:7002"));
    Files.writeString(dev.first().uriFile(), "tako://127.0.0.1:7001");
    DevServer second = dev.servers().get(1);
    Files.createDirectories(second.directory());
    Files.writeString(second.uriFile(), "tako://127.0.0.2:7002");
    assertThatThrownBy(dev::uri).hasMessageContaining("no local server runs in");
    Files.writeString(second.pidFile(), start("server", second.uriFileOption()).pid() + "\n");
    assertThat(dev.uri()).hasToString("tako://127.0.0.2:7002");
  }
}
