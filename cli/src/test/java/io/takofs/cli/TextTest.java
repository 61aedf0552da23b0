package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.server.report.Modes;
import io.takofs.server.report.Sizes;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class TextTest {
  @Test
  void shouldPrintModesAsLsDoes() {
    assertThat(Modes.text(true, 0755)).isEqualTo("drwxr-xr-x");
    assertThat(Modes.text(false, 0640)).isEqualTo("-rw-r-----");
    assertThat(Modes.text(true, 01777)).isEqualTo("drwxrwxrwt");
    assertThat(Modes.text(true, 01770)).isEqualTo("drwxrwx--T");
  }

  @Test
  void shouldPrintSizesForPeople() {
    assertThat(Sizes.human(0)).isEqualTo("0 B");
    assertThat(Sizes.human(1023)).isEqualTo("1023 B");
    assertThat(Sizes.human(1024)).isEqualTo("1.0 KiB");
    assertThat(Sizes.human(300L << 20)).isEqualTo("300 MiB");
    assertThat(Sizes.human(Long.MAX_VALUE)).isEqualTo("8192 PiB");
  }

  @Test
  void shouldTakePathsOutOfUris() throws IOException {
    assertThat(ServerOptions.path("tako://host:1/a/b/")).isEqualTo("/a/b");
    assertThat(ServerOptions.path("tako://host:1")).isEqualTo("/");
    assertThat(ServerOptions.path("//a///b c")).isEqualTo("/a/b c");
    assertThatThrownBy(() -> ServerOptions.path("a/b")).hasMessageContaining("'a/b' is not a path");
  }

  @Test
  void shouldNameTheServerThatCannotBeReached() {
    StringWriter err = new StringWriter();
    CommandLine tako = Tako.commandLine().setErr(new PrintWriter(err));
    assertThat(tako.execute("status", "tako://127.0.0.1:1/x")).isEqualTo(1);
    assertThat(err.toString()).startsWith("tako: ").contains("127.0.0.1:1").doesNotContain("\tat ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "0.01", "NaN"})
  void shouldRefuseToMeasureWithoutPause(String interval) {
    StringWriter err = new StringWriter();
    CommandLine tako = Tako.commandLine().setErr(new PrintWriter(err));
    assertThat(tako.execute("top", "--interval", interval, "tako://127.0.0.1:1")).isEqualTo(2);
    assertThat(err.toString()).contains("must be at least 0.1 seconds");
  }

  @Test
  void shouldSayWhatIsMissingOnTheCommandLine() {
    StringWriter err = new StringWriter();
    CommandLine tako = Tako.commandLine().setErr(new PrintWriter(err));
    assertThat(tako.execute("config")).isEqualTo(2);
    assertThat(err.toString()).contains("doc or list?");
    assertThat(tako.execute()).isEqualTo(2);
    assertThat(err.toString()).contains("Which command?");
  }
}
