package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.FreePorts;
import io.takofs.client.TakoClient;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A cluster is found by its name and by any of its servers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class ClusterNameTest {
  private ServerCluster cluster;

  @BeforeAll
  void start() throws Exception {
    cluster = ServerCluster.start(2);
  }

  @AfterAll
  void stop() throws Exception {
    cluster.close();
  }

  private String address(int server) {
    return cluster.servers().get(server).uri().getAuthority();
  }

  private static void checkServes(URI uri, String servers) throws IOException {
    try (TakoClient client =
        Clients.connect(
            uri,
            "tcp",
            "fs.tako.cluster.bay.servers",
            servers,
            "fs.tako.client.connect.timeout",
            "15s")) {
      client.mkdirs("/here");
      assertThat(client.getStatus("/here").directory()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1", "0 1", "1 0"})
  void shouldBeFoundByItsName(String order) throws Exception {
    StringBuilder servers = new StringBuilder();
    for (String server : order.split(" ", -1)) {
      servers.append(servers.isEmpty() ? "" : ",").append(address(Integer.parseInt(server)));
    }
    checkServes(URI.create("tako://bay/"), servers.toString());
  }

  @Test
  void shouldBeFoundByEachOfItsServers() throws Exception {
    for (ServerProcess server : cluster.servers()) {
      checkServes(server.uri(), "elsewhere");
    }
  }

  @Test
  void shouldBeFoundWhenTheFirstOfTheListIsNotThere() throws Exception {
    checkServes(URI.create("tako://bay"), nobody() + "," + address(1) + "," + address(0));
  }

  /** One that takes connections and says nothing. */
  @Test
  void shouldBeFoundWhenTheFirstOfTheListDoesNotAnswer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0)) {
      checkServes(
          URI.create("tako://bay"),
          "127.0.0.1:" + silent.getLocalPort() + "," + address(1) + "," + address(0));
    }
  }

  @Test
  void shouldSayWhichServersWereAskedInVain() throws Exception {
    String nobody = nobody();
    assertThat(catchThrowable(() -> checkServes(URI.create("tako://bay"), nobody)))
        .hasMessageContaining(nobody);
  }

  private static String nobody() throws IOException {
    return "127.0.0.1:" + new FreePorts(new Random()).onLoopback(1).get(0);
  }
}
