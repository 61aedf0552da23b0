package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration of {@code tako dev}'s servers, start after start. */
class DevSiteTest {
  private static final Map<String, String> OWN =
      Map.of(
          "fs.tako.cluster.servers", "127.0.0.1:1,127.0.0.2:2", "fs.tako.server.pool.size", "256m");

  @TempDir Path directory;

  private DevSite site;

  @BeforeEach
  void start() throws IOException {
    site = new DevSite(directory.resolve("tako-site.xml"));
    assertThat(site.poolSize()).isEmpty();
    site.write(OWN);
  }

  private void add(String property) throws IOException {
    String text = Files.readString(site.file());
    Files.writeString(
        site.file(), text.replace("</configuration>", property + "\n</configuration>"));
  }

  @Test
  void shouldRememberTheSizeOfThePools() throws IOException {
    assertThat(site.poolSize()).contains("256m");
    assertThat(site.added()).isEmpty();
  }

  @Test
  void shouldKeepWhatItsUserAdded() throws IOException {
    add("<property><name>fs.tako.scrub.period</name><value>1h</value></property><!-- mine -->");
    site.write(OWN);
    assertThat(Files.readString(site.file())).contains("<!-- mine -->");
    site.write(Map.of("fs.tako.cluster.servers", "127.0.0.1:3,127.0.0.2:4"));
    assertThat(Files.readString(site.file())).contains("127.0.0.1:3").doesNotContain("127.0.0.1:1");
    assertThat(site.added()).containsExactly(Map.entry("fs.tako.scrub.period", "1h"));
    site.write(Map.of());
    assertThat(site.added()).containsExactly(Map.entry("fs.tako.scrub.period", "1h"));
    assertThat(site.poolSize()).isEmpty();
  }

  @Test
  void shouldPassOtherProgramsKeysToNoServer() throws IOException {
    add("<property><name>io.file.buffer.size</name><value>1</value></property>");
    add("<property><name>net.topology.script.file.name</name><value>/r</value></property>");
    assertThat(site.added()).hasSize(2);
    assertThat(site.addedForServers()).containsOnlyKeys("net.topology.script.file.name");
  }

  @Test
  void shouldLeaveNoFileWithoutKeys() throws IOException {
    site.write(Map.of());
    assertThat(site.file()).doesNotExist();
  }
}
