package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.ServerEntry;
import io.takofs.server.peer.Cluster;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Servers that are configured by names. */
class NearServerTest {
  private final Map<String, String> names = new HashMap<>();
  private final HostAddresses hosts = new HostAddresses(this::find);
  private final ClusterMap map =
      ClusterMap.newBuilder()
          .addServers(ServerEntry.newBuilder().setId(1).setHost("a.example"))
          .addServers(ServerEntry.newBuilder().setId(2).setHost("b.example"))
          .addServers(ServerEntry.newBuilder().setId(3).setHost("10.0.0.3"))
          .build();

  private InetAddress[] find(String name) throws UnknownHostException {
    String address = names.getOrDefault(name, name);
    if (!Character.isDigit(address.charAt(0))) {
      throw new UnknownHostException(name);
    }
    return new InetAddress[] {InetAddress.getByName(address)};
  }

  private int near(String transport, String remote) {
    Cluster cluster =
        new TestCluster(1, "") {
          @Override
          public ClusterMap map() {
            return map;
          }

          @Override
          public List<String> addresses(ServerEntry server) {
            return hosts.of(server.getHost());
          }
        };
    return NearServer.of(cluster, transport, remote);
  }

  @Test
  void shouldKnowServersByTheAddressesOfTheirNames() {
    names.put("b.example", "2001:db8::2");
    names.put("a.example", "10.0.0.1");
    assertThat(near("tcp", "10.0.0.1:9")).as("before it was looked up").isZero();
    hosts.refresh(map);
    assertThat(near("tcp", "10.0.0.1:9")).isEqualTo(1);
    assertThat(near("tcp", "10.0.0.11:9")).isZero();
    assertThat(near("tcp", "[2001:db8:0:0:0:0:0:2]:9")).isEqualTo(2);
    assertThat(near("tcp", "10.0.0.3:9")).isEqualTo(3);
    assertThat(near("tcp", "127.0.0.1:9")).as("this machine").isEqualTo(1);
    assertThat(near("shm", "process 7")).isEqualTo(1);
  }

  @Test
  void shouldKeepAnAddressWhileTheNameCannotBeFound() {
    names.put("a.example", "10.0.0.1");
    hosts.refresh(map);
    names.clear();
    hosts.refresh(map);
    assertThat(near("tcp", "10.0.0.1:9")).isEqualTo(1);
    names.put("a.example", "10.0.0.9");
    hosts.refresh(map);
    assertThat(near("tcp", "10.0.0.1:9")).isZero();
    assertThat(near("tcp", "10.0.0.9:9")).isEqualTo(1);
  }
}
