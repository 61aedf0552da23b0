package io.takofs.server.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class HostTextTest {
  private static InetAddress address(String text) throws Exception {
    return InetAddress.getByName(text);
  }

  @Test
  void shouldNameTheMachineWhereAServerListensAtAllOfItsAddresses() throws Exception {
    assertThat(HostText.of(address("0.0.0.0"), 7, "node-7.example")).isEqualTo("node-7.example:7");
    assertThat(HostText.of(address("::"), 7, "node7")).isEqualTo("node7:7");
    assertThat(HostText.of(address("0.0.0.0"), 7)).isNotEqualTo("0.0.0.0:7");
  }

  @Test
  void shouldKeepTheAddressWhereTheMachinesNameIsNoHostOfAUri() throws Exception {
    assertThat(HostText.of(address("0.0.0.0"), 7, "my_machine")).isEqualTo("0.0.0.0:7");
    assertThat(HostText.of(address("0.0.0.0"), 7, "")).isEqualTo("0.0.0.0:7");
  }

  @Test
  void shouldKeepAnAddressThatOthersCanUse() throws Exception {
    assertThat(HostText.of(address("10.1.2.3"), 7)).isEqualTo("10.1.2.3:7");
    assertThat(HostText.of(address("::1"), 7)).isEqualTo("[0:0:0:0:0:0:0:1]:7");
  }
}
