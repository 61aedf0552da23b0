package io.takofs.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
