package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerCommandTest {
  @Test
  void shouldNeedNoParserForSimpleOptions() {
    assertThat(ServerCommand.ofSimple("server")).isPresent();
    assertThat(
            ServerCommand.ofSimple(
                "server", "--conf=a", "--uri-file=b", "--pid-file=c", "-Da=b=c", "-Da=d"))
        .isPresent();
  }

  @Test
  void shouldRefuseAKeyThatDoesNotExist() {
    ServerCommand command =
        ServerCommand.ofSimple("server", "-Dfs.tako.server.qarantine=2s").orElseThrow();
    assertThatThrownBy(command::configuration)
        .isInstanceOf(TakoException.class)
        .hasMessage(
            "command line: unknown key fs.tako.server.qarantine; did you mean"
                + " fs.tako.server.quarantine?");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "version",
        "server --help",
        "server --version",
        "server --conf a",
        "server --conf=a --conf=b",
        "server --conf=",
        "server --other=a",
        "server -D a=b",
        "server -Da",
        "server -D=b",
        "server @file",
        "server word",
      })
  void shouldLeaveOtherArgumentsToTheParser(String line) {
    assertThat(ServerCommand.ofSimple(line.split(" "))).isEmpty();
  }
}
