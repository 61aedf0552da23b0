package io.takofs.hadoop.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.hadoop.TakoFs;
import io.takofs.hadoop.TestServer;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.LogFactory;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;

/** The one jar beside each Hadoop that applications bring, without a setting and in its own JVM. */
class HadoopVersionsTest {
  @TempDir Path output;

  @ParameterizedTest
  @CsvSource({
    "3.3.4, ''", // Spark 3.5
    "3.3.6, FileRange LeaseRecoverable SafeMode",
    "3.4.3, FileRange LeaseRecoverable SafeMode BulkDeleteSource",
    "3.5.0, FileRange LeaseRecoverable SafeMode BulkDeleteSource" // Spark 4.2
  })
  void shouldLoadAndServeAnApplication(String version, String newer) throws Exception {
    Path printed = output.resolve("printed");
    Configuration conf = new Configuration(false);
    TestServer.configure(conf);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                classPath(version),
                HadoopProgram.class.getName(),
                conf.get("fs.defaultFS"),
                TestServer.transport())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    try {
      assertThat(process.waitFor(3, TimeUnit.MINUTES)).as("ended in time").isTrue();
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(printed);
    assertThat(process.exitValue()).as(text).isZero();
    String used =
        text.lines()
            .filter(line -> line.startsWith("used "))
            .map(line -> line.substring("used ".length()))
            .collect(Collectors.joining(" "));
    assertThat(used).as(text).isEqualTo(newer);
    assertThat(text).doesNotContain("Cannot load");
  }

  /** Tako's jar first, so that it cannot hide behind what Hadoop has. */
  private static String classPath(String version) throws IOException, URISyntaxException {
    Path classes = placeOf(HadoopVersionsTest.class);
    List<Path> path = new ArrayList<>(List.of(placeOf(TakoFs.class), classes));
    path.add(placeOf(Logger.class));
    path.add(placeOf(LogFactory.class));
    Path hadoop = classes.resolveSibling("hadoop").resolve(version);
    try (Stream<Path> jars = Files.list(hadoop)) {
      jars.sorted().forEach(path::add);
    }
    return path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  private static Path placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
