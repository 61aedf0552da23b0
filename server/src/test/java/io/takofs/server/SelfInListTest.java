package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.config.ServerList;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SelfInListTest {
  private static final Map<String, byte[]> ADDRESSES =
      Map.of(
          "here", new byte[] {127, 0, 0, 1},
          "alias", new byte[] {127, 0, 0, 1},
          "beside", new byte[] {127, 0, 0, 2},
          "there", new byte[] {(byte) 192, 0, 2, 1});

  private static InetAddress lookUp(String host) throws UnknownHostException {
    if (!ADDRESSES.containsKey(host)) {
      throw new UnknownHostException(host);
    }
    return InetAddress.getByAddress(host, ADDRESSES.get(host));
  }

  private static String find(String servers, String host) throws IOException {
    List<String> list = ServerList.parse(servers);
    return new SelfInList(list, host, 7, new ListedHosts(list, SelfInListTest::lookUp)::of).find();
  }

  @Test
  void shouldFindItselfByNameAndByAddress() throws IOException {
    assertThat(find("there:7,here:7", "here")).isEqualTo("here:7");
    assertThat(find("there:7,here:7", "0.0.0.0")).isEqualTo("here:7");
    assertThat(find("here:8,here:7", "here")).isEqualTo("here:7");
    assertThat(find("beside:7,here:7", "here")).isEqualTo("here:7");
  }

  /** One machine may have several servers at one port, each with a loopback address of its own. */
  @Test
  void shouldNotTakeItselfForAServerAtAnotherLoopbackAddress() {
    assertThatThrownBy(() -> find("here:7,alias:7", "beside"))
        .hasMessageContaining("fs.tako.cluster.servers (here:7,alias:7)")
        .hasMessageContaining("no server at port 7 of this machine");
  }

  @Test
  void shouldFindItselfThoughOthersAreUnknown() throws IOException {
    assertThat(find("nowhere:7,here:7", "0.0.0.0")).isEqualTo("here:7");
    assertThat(find("nowhere:7,here:7", "here")).isEqualTo("here:7");
  }

  @Test
  void shouldSayWhatIsUnknown() {
    assertThatThrownBy(() -> find("nowhere:7,there:7", "here"))
        .hasMessageContaining("fs.tako.cluster.servers (nowhere:7,there:7)")
        .hasMessageContaining("no server at port 7 of this machine")
        .hasMessageContaining("no address is known of [nowhere]");
  }

  @Test
  void shouldRefuseAListThatHasItTwice() {
    assertThatThrownBy(() -> find("alias:7,here:7", "here"))
        .hasMessageContaining("has this server twice, as alias:7 and as here:7");
    assertThatThrownBy(() -> find("here:7,alias:7", "here"))
        .hasMessageContaining("has this server twice, as here:7 and as alias:7");
    assertThatThrownBy(() -> find("there:7,alias:7,nowhere:7,here:7", "here"))
        .hasMessageContaining("has this server twice, as alias:7 and as here:7");
    assertThatThrownBy(() -> find("there:7,alias:7,here:7", "0.0.0.0"))
        .hasMessageContaining("has this server twice, as alias:7 and as here:7");
  }

  @Test
  void shouldKeepServersApartThatHaveOneAddressAndTwoPorts() throws IOException {
    assertThat(find("here:7,alias:8", "here")).isEqualTo("here:7");
  }
}
