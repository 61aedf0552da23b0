package io.takofs.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteXmlTest {
  @TempDir Path directory;

  private Path file(String text) throws IOException {
    Path file = directory.resolve("tako-site.xml");
    Files.writeString(file, text);
    return file;
  }

  @Test
  void shouldKeepTheShippedFileEqualToTheRegistry() throws IOException {
    Path shipped = Path.of("..", "conf", "tako-site.xml");
    if (Boolean.getBoolean("tako.render")) {
      Files.writeString(shipped, SiteXml.render());
    }
    assertThat(Files.readString(shipped))
        .describedAs("render it with mvn -pl fs-core test -Dtest=SiteXmlTest -Dtako.render=true")
        .isEqualTo(SiteXml.render());
  }

  @Test
  void shouldReadTheShippedFileAsDefaults() throws IOException {
    TakoConfig config = new TakoConfig().addFile(Path.of("..", "conf", "tako-site.xml"));
    assertThat(config.warnings()).isEmpty();
    for (ConfigKey<?> key : ConfigKeys.all()) {
      assertThat(config.origin(key)).describedAs(key.name()).endsWith("tako-site.xml");
      assertThat((Object) config.get(key)).describedAs(key.name()).isEqualTo(key.defaultValue());
    }
  }

  @Test
  void shouldNameADirectoryThatIsTakenForAFile() {
    assertThatThrownBy(() -> new TakoConfig().addFile(directory))
        .isInstanceOf(TakoException.class)
        .hasMessage(directory + " is a directory: name the configuration file in it");
  }

  @Test
  void shouldNameFileKeyValueAndWhatIsAllowed() throws IOException {
    Path file =
        file(
            "<configuration><property><name>fs.tako.block.size</name>"
                + "<value>12 parsecs</value></property></configuration>");
    assertThatThrownBy(() -> TakoConfig.load(file))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("fs.tako.block.size")
        .hasMessageContaining("12 parsecs")
        .hasMessageContaining("from 64k to 1t");
  }

  @Test
  void shouldNameFileAndLineOfMalformedXml() throws IOException {
    Path file = file("<configuration>\n<property>\n</configuration>");
    assertThatThrownBy(() -> TakoConfig.load(file))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("line 3");
  }

  @Test
  void shouldRefuseOtherRootsAndPropertiesWithoutNameOrValue() throws IOException {
    assertThatThrownBy(() -> TakoConfig.load(file("<other/>"))).hasMessageContaining("<other>");
    assertThatThrownBy(() -> TakoConfig.load(file("<configuration><property/></configuration>")))
        .hasMessageContaining("no <name>");
    assertThatThrownBy(
            () ->
                TakoConfig.load(
                    file(
                        "<configuration><property><name>fs.tako.x</name></property>"
                            + "</configuration>")))
        .hasMessageContaining("fs.tako.x has no <value>");
  }

  @Test
  void shouldRefuseDocumentTypesAndSoEntities() throws IOException {
    Path secret = directory.resolve("secret");
    Files.writeString(secret, "7");
    Path file =
        file(
            "<!DOCTYPE configuration [<!ENTITY secret SYSTEM \""
                + secret.toUri()
                + "\">]><configuration><property><name>fs.tako.replication</name>"
                + "<value>&secret;</value></property></configuration>");
    assertThatThrownBy(() -> TakoConfig.load(file))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("DOCTYPE");
  }

  @Test
  void shouldSayThatAFileIsMissing() {
    Path missing = directory.resolve("missing.xml");
    assertThatThrownBy(() -> TakoConfig.load(missing))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining(missing.toString());
  }
}
