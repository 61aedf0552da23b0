package io.takofs.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FreePortsTest {
  private static final int FIRST = 20_000;

  /** The kernel gives a connection the port of its choice; a server could not listen there then. */
  @Test
  void shouldNotBeThoseOfOutgoingConnections() throws IOException {
    List<Integer> ports = new FreePorts(new Random(1)).onLoopback(50);
    assertThat(ports).doesNotHaveDuplicates().hasSize(50);
    assertThat(ports)
        .as("the next ones are for the servers' pages")
        .allMatch(port -> port % 2 == 0);
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket outgoing = new Socket(listening.getInetAddress(), listening.getLocalPort())) {
      assertThat(ports).allMatch(port -> port >= FIRST && port < outgoing.getLocalPort());
    }
  }

  @Test
  void shouldNotBeTaken() throws IOException {
    FreePorts one = new FreePorts(FIRST + 2, new Random(1));
    int port = one.onLoopback(1).get(0);
    try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      assertThat(one.onLoopback(2)).doesNotContain(taken.getLocalPort()).doesNotHaveDuplicates();
    }
  }

  /** Some machines give nearly all ports to outgoing connections. */
  @Test
  void shouldBeAnyWhereTheKernelGivesAllAway() throws IOException {
    assertThat(new FreePorts(1024, new Random(1)).onLoopback(20))
        .doesNotHaveDuplicates()
        .hasSize(20)
        .allMatch(port -> port >= 1024);
  }

  @Test
  void shouldRefuseAnAddressOfAnotherMachine() throws IOException {
    InetAddress other = InetAddress.getByName("192.0.2.1");
    assertThatThrownBy(() -> new FreePorts(new Random(1)).at(List.of(other)))
        .isInstanceOf(BindException.class);
  }
}
