package io.takofs.hadoop;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The jar that a user puts on a Hadoop class path: one that needs nothing and clashes with nothing.
 */
class ShadedJarTest {
  private static final Pattern MOVED =
      Pattern.compile("(?<!io/takofs/shaded/)(io/netty/|com/google/protobuf/)");

  private JarFile jar;

  @BeforeEach
  void openTheJarThatIsOnTheClassPath() throws IOException, URISyntaxException {
    File file =
        new File(TakoFileSystem.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    assertThat(file.getName()).startsWith("tako-hadoop-").endsWith(".jar");
    jar = new JarFile(file);
  }

  @AfterEach
  void close() throws IOException {
    jar.close();
  }

  private List<String> names() {
    return jar.stream()
        .filter(entry -> !entry.isDirectory())
        .map(JarEntry::getName)
        .collect(Collectors.toList());
  }

  @Test
  void shouldHoldNoClassOutsideItsOwnPackagesAndDisni() {
    assertThat(names())
        .filteredOn(name -> name.endsWith(".class"))
        .isNotEmpty()
        .allMatch(name -> name.startsWith("io/takofs/") || name.startsWith("com/ibm/disni/"));
  }

  @Test
  void shouldMoveWhatItBundles() {
    assertThat(names())
        .contains(
            "io/takofs/shaded/com/google/protobuf/Message.class",
            "io/takofs/shaded/io/netty/channel/Channel.class",
            "io/takofs/jni/NativeCore.class",
            // Its natives are registered by these names.
            "com/ibm/disni/verbs/impl/NativeDispatcher.class");
  }

  @Test
  void shouldReferToNothingThatItMoved() throws IOException {
    for (String name : names()) {
      if (name.endsWith(".class")) {
        // Names in a class file's constants are plain bytes.
        String content;
        try (var in = jar.getInputStream(jar.getEntry(name))) {
          content = new String(in.readAllBytes(), ISO_8859_1);
        }
        assertThat(MOVED.matcher(content).find())
            .as(name + " refers to a class as it was called before it was moved")
            .isFalse();
      }
    }
  }

  @Test
  void shouldHoldNothingBesideClassesButWhatIsExpected() {
    assertThat(names())
        .filteredOn(name -> !name.endsWith(".class"))
        // Left out where the headers of libibverbs are not there.
        .filteredOn(name -> !name.equals("META-INF/native/libtako-verbs-linux-x86_64.so"))
        .containsExactlyInAnyOrder(
            "META-INF/MANIFEST.MF",
            "META-INF/LICENSE",
            "META-INF/NOTICE",
            "META-INF/licenses/netty-notice.txt",
            "META-INF/licenses/protobuf.txt",
            "io/takofs/base/version.properties",
            "META-INF/native/libtako-linux-x86_64.so",
            "META-INF/services/org.apache.hadoop.fs.FileSystem");
  }

  @Test
  void shouldRegisterTheFileSystem() throws IOException {
    String service = "META-INF/services/org.apache.hadoop.fs.FileSystem";
    try (var in = jar.getInputStream(jar.getEntry(service))) {
      assertThat(new String(in.readAllBytes(), UTF_8).trim())
          .isEqualTo(ApiSelection.class.getName() + "\n" + TakoFileSystem.class.getName());
    }
  }
}
