package io.takofs.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ServerListTest {
  @Test
  void shouldWriteAnAddressAsItIsRead() {
    for (String element : List.of("host:1", "10.0.0.1:2", "[::1]:3")) {
      assertThat(ServerList.parse(element)).containsExactly(element);
      String host = ServerList.host(element);
      assertThat(ServerList.address(host, ServerList.port(element))).isEqualTo(element);
    }
    assertThat(ServerList.address("::1", 3)).isEqualTo("[::1]:3");
  }

  @Test
  void shouldTakeTheDefaultPortAsItSays() {
    int port = ConfigKeys.SERVER_PORT.defaultValue();
    assertThat(ServerList.parse("one,[::1]")).containsExactly("one:" + port, "[::1]:" + port);
    assertThat(ServerList.ALLOWED).contains("port is " + port);
  }
}
