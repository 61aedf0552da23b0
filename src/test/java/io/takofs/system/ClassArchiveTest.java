package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive of classes that bin/tako makes at its first use, in a checkout without one. */
class ClassArchiveTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path checkout;
  private Path launcher;
  private Path jar;
  private Path archives;

  @BeforeEach
  void makeCheckout() throws IOException {
    Path root = Path.of(ServerProcess.launcher()).getParent().getParent();
    launcher = Files.createDirectories(checkout.resolve("bin")).resolve("tako");
    Files.copy(root.resolve("bin/tako"), launcher);
    Path target = Files.createDirectories(checkout.resolve("cli/target"));
    jar = Files.copy(root.resolve("cli/target/tako-cli.jar"), target.resolve("tako-cli.jar"));
    archives = target.resolve("archive");
    Files.createSymbolicLink(target.resolve("lib"), root.resolve("cli/target/lib"));
    for (String name : List.of("conf", "hadoop-plugin")) {
      Files.createSymbolicLink(checkout.resolve(name), root.resolve(name));
    }
  }

  @Test
  void shouldBeMadeOnceByConcurrentFirstUsesAndUsedAfterwards() throws Exception {
    List<Process> first = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      first.add(version("").start());
    }
    for (Process process : first) {
      succeed(process);
    }
    waitUntilUsed();
    try (Stream<Path> files = Files.list(archives)) {
      Path archive = archive();
      assertThat(files).containsExactlyInAnyOrder(archive, size(archive));
    }
  }

  @Test
  void shouldNotBeUsedWhenDamagedOrOld() throws Exception {
    succeed(version("").start());
    waitUntilUsed();
    Path archive = archive();
    assertThat(archive.toFile().setWritable(true)).isTrue();
    try (RandomAccessFile file = new RandomAccessFile(archive.toFile(), "rw")) {
      file.write(new byte[1 << 16]);
    }
    assertThat(usesArchive()).isFalse();

    try (RandomAccessFile file = new RandomAccessFile(archive.toFile(), "rw")) {
      file.setLength(file.length() / 2);
    }
    assertThat(usesArchive()).isFalse();
    waitUntilUsed(); // Another has been made.

    FileTime made = Files.getLastModifiedTime(archive());
    Files.setLastModifiedTime(jar, FileTime.from(Instant.now()));
    assertThat(usesArchive()).isFalse();
    waitUntilUsed();
    assertThat(Files.getLastModifiedTime(archive())).isGreaterThan(made);
  }

  @Test
  void shouldBeTriedAgainWhenNoneCouldBeMade() throws Exception {
    succeed(version("").start());
    waitUntilUsed();
    Path archive = archive();
    Files.delete(archive);
    Files.createFile(archive);
    long now = Instant.now().getEpochSecond();
    Files.writeString(size(archive), "0 " + now + "\n");
    assertThat(usesArchive()).isFalse();
    assertThat(archives.resolve(archive.getFileName() + ".lock")).doesNotExist();
    assertThat(Files.size(archive)).isZero();

    for (String anHourAgo : List.of("0 " + (now - 3601), "0")) {
      Files.delete(archive);
      Files.createFile(archive);
      Files.writeString(size(archive), anHourAgo + "\n");
      assertThat(usesArchive()).isFalse();
      waitUntilUsed();
    }
  }

  /** Waits until nobody makes an archive and a command uses one. */
  private void waitUntilUsed() throws Exception {
    Poll.until("an archive is made", LIMIT, this::isMade);
    assertThat(usesArchive()).isTrue();
  }

  private boolean isMade() throws IOException {
    try (Stream<Path> files = Files.list(archives)) {
      List<Path> all = files.toList();
      return all.size() == 2
          && all.stream().anyMatch(file -> file.toString().endsWith(".jsa"))
          && all.stream().anyMatch(file -> file.toString().endsWith(".jsa.size"));
    }
  }

  private Path archive() throws IOException {
    try (Stream<Path> files = Files.list(archives)) {
      return files.filter(file -> file.toString().endsWith(".jsa")).findFirst().orElseThrow();
    }
  }

  private static Path size(Path archive) {
    return Path.of(archive + ".size");
  }

  private boolean usesArchive() throws Exception {
    Path log = checkout.resolve("classes.log");
    succeed(version("-Xlog:class+load:file=" + log).start());
    return Files.readString(log).contains("io.takofs.cli.Tako source: shared objects file (top)");
  }

  private ProcessBuilder version(String options) {
    ProcessBuilder builder = new ProcessBuilder(launcher.toString(), "version");
    builder.environment().put("TAKO_CLIENT_OPTS", options);
    return builder.redirectErrorStream(true);
  }

  private static void succeed(Process process) throws Exception {
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).contains("0.");
  }
}
