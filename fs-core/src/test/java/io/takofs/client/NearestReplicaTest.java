package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Of which server a reader reads a file with copies at servers 2, 3 and 4. */
@Timeout(60)
class NearestReplicaTest {
  private static final int READERS = 8;

  private final List<FakeDataServer> servers = new ArrayList<>();
  private final byte[] content = new byte[200_001];
  private FakeServer leader;
  private FakeSlabs slabs;

  @BeforeEach
  void write() throws IOException {
    leader = new FakeServer(4 << 20, 2 * Layout.UNIT_SIZE);
    for (int id = 2; id <= 6; id++) {
      servers.add(new FakeDataServer(id, ByteBuffer.allocateDirect(FakeSlabs.ARENA_SIZE)));
    }
    slabs = leader.replicate(3, servers);
    slabs.place(2, "/a");
    slabs.place(3, "/b");
    slabs.place(4, "/b");
    slabs.place(5, "/a");
    slabs.place(6, "/c");
    new Random(7).nextBytes(content);
    try (TakoClient client = connect();
        TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content);
    }
  }

  private TakoClient connect() throws IOException {
    TakoConfig config = new TakoConfig();
    config.set(ConfigKeys.CLIENT_TIMEOUT.name(), "2s");
    config.set(ConfigKeys.REPLICA_TIMEOUT.name(), "500ms");
    return new TakoClient(URI.create("tako://fake"), config, "alice", leader);
  }

  /** New clients read the file, one after the other; the servers that any of them connected to. */
  private List<Integer> read() throws IOException {
    List<Integer> before = servers.stream().map(FakeDataServer::connects).toList();
    for (int i = 0; i < READERS; i++) {
      try (TakoClient client = connect();
          TakoInputStream in = client.open("/f")) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
    }
    return servers.stream()
        .filter(server -> server.connects() > before.get(server.id - 2))
        .map(server -> server.id)
        .toList();
  }

  private FakeDataServer server(int id) {
    return servers.get(id - 2);
  }

  @Test
  void shouldReadOfItsOwnHostElseOfItsRackElseOfAny() throws IOException {
    slabs.putClientsNear(3);
    assertThat(read()).containsExactly(3);
    server(3).die();
    assertThat(read()).containsExactly(4);
    server(4).die();
    assertThat(read()).containsExactly(2);
  }

  @Test
  void shouldReadOfItsRackWhenItsHostHasNoCopy() throws IOException {
    slabs.putClientsNear(5);
    assertThat(read()).containsExactly(2);
  }

  @Test
  void shouldReadOfAllWhenNoneIsNear() throws IOException {
    slabs.putClientsNear(6);
    assertThat(read()).containsExactly(2, 3, 4);
  }

  @Test
  void shouldReadOfAllWhenNoServerIsOnItsHost() throws IOException {
    assertThat(read()).containsExactly(2, 3, 4);
  }
}
