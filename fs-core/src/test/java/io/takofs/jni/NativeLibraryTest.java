package io.takofs.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
  @TempDir Path directory;

  /** Asked in a JVM of its own, because a library is loaded once in a JVM. */
  static final class Ask {
    public static void main(String[] args) {
      System.out.println(NativeLibrary.unavailabilityCause().orElse("available"));
    }
  }

  @Test
  void shouldNameTheResourceOfThePlatform() {
    assertThat(PackedLibrary.resourceName("libtako", "Linux", "amd64"))
        .isEqualTo("META-INF/native/libtako-linux-x86_64.so");
    assertThat(PackedLibrary.resourceName("libtako", "Linux", "aarch64"))
        .isEqualTo("META-INF/native/libtako-linux-aarch64.so");
  }

  @Test
  void shouldExtractOnceToAPrivateDirectory() throws Exception {
    String option = "-D" + NativeLibrary.DIRECTORY_PROPERTY + "=" + directory;
    assertThat(ask(classPath(), option)).isEqualTo("available");
    assertThat(ask(classPath(), option)).isEqualTo("available");
    try (var entries = Files.walk(directory)) {
      List<Path> files = entries.filter(Files::isRegularFile).toList();
      assertThat(files).hasSize(1);
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(files.get(0).getParent())))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void shouldReplaceAnExtractedFileWithOtherContent() throws Exception {
    String option = "-D" + NativeLibrary.DIRECTORY_PROPERTY + "=" + directory;
    assertThat(ask(classPath(), option)).isEqualTo("available");
    try (var entries = Files.walk(directory)) {
      Files.writeString(entries.filter(Files::isRegularFile).findFirst().orElseThrow(), "torn");
    }
    assertThat(ask(classPath(), option)).isEqualTo("available");
  }

  @Test
  void shouldSayThatNoLibraryIsOnTheClassPath() throws Exception {
    List<String> without = new ArrayList<>();
    for (String element : classPath().split(File.pathSeparator, -1)) {
      if (!element.contains("tako-native") && !element.contains("native/target")) {
        without.add(element);
      }
    }
    assertThat(ask(String.join(File.pathSeparator, without)))
        .contains("no native library for this platform")
        .contains("META-INF/native/libtako-linux-");
  }

  @Test
  void shouldSayWhatIsWrongWithTheChosenLibrary() throws Exception {
    Path file = Files.writeString(directory.resolve("bad.so"), "not a library");
    assertThat(ask(classPath(), "-D" + NativeLibrary.PATH_PROPERTY + "=" + file))
        .contains(file.toString())
        .isNotEqualTo("available");
  }

  @Test
  void shouldSayWhichDirectoryCannotBeUsed() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThat(ask(classPath(), "-D" + NativeLibrary.DIRECTORY_PROPERTY + "=" + file))
        .contains(file.toString())
        .contains(NativeLibrary.DIRECTORY_PROPERTY);
  }

  static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  /** Its output, without the warnings of newer JVMs about each loaded library. */
  private static String ask(String classPath, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", classPath, Ask.class.getName()));
    Process process = new ProcessBuilder(command).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(errors).isZero();
    return output.strip();
  }
}
