package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Servers with memory of the test's own, a leader of their cluster, and a client of it. */
abstract class ReplicatedFileFixture {
  static final int LENGTH = 700_001;

  /** Memory of the servers, which is not cleared: what was there before is never read. */
  private static final ByteBuffer[] ARENAS = new ByteBuffer[5];

  final List<FakeDataServer> servers = new ArrayList<>();
  FakeServer leader;
  FakeSlabs slabs;
  TakoClient client;

  @BeforeEach
  void start() throws IOException {
    leader = new FakeServer(4 << 20, 2 * Layout.UNIT_SIZE);
    for (int id = 2; id <= 6; id++) {
      if (ARENAS[id - 2] == null) {
        ARENAS[id - 2] = ByteBuffer.allocateDirect(FakeSlabs.ARENA_SIZE);
      }
      servers.add(new FakeDataServer(id, ARENAS[id - 2]));
    }
    slabs = leader.replicate(3, servers);
    client = connect("2s", "500ms");
  }

  TakoClient connect(String timeout, String replicaTimeout) throws IOException {
    TakoConfig config = new TakoConfig();
    config.set(ConfigKeys.CLIENT_TIMEOUT.name(), timeout);
    config.set(ConfigKeys.REPLICA_TIMEOUT.name(), replicaTimeout);
    return new TakoClient(URI.create("tako://fake"), config, "alice", leader);
  }

  @AfterEach
  void stop() {
    client.close();
  }

  static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    return bytes;
  }

  void write(String path, byte[] content) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
  }

  /** An event while a file is written. */
  @FunctionalInterface
  interface Event {
    void happen(TakoOutputStream out) throws IOException;
  }

  /** Writes a file, and lets something happen after its first 300,000 bytes. */
  byte[] writeAround(Event event) throws IOException {
    byte[] content = bytes(LENGTH);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 300_000);
      event.happen(out);
      out.write(content, 300_000, LENGTH - 300_000);
    }
    return content;
  }

  byte[] read(String path) throws IOException {
    try (TakoInputStream in = client.open(path)) {
      return in.readAllBytes();
    }
  }

  FakeDataServer server(int id) {
    return servers.get(id - 2);
  }

  /**
   * The file as each of the replicas of its extents on {@code server} has it.
   *
   * @return bytes of it that the server has
   */
  long assertReplica(String path, int server, byte[] content) {
    long compared = 0;
    for (Extent extent : leader.extents(path)) {
      Slab slab = slabs.slab(extent.getSlab());
      for (Replica replica : slab.getReplicasList()) {
        if (replica.getServer() == server) {
          byte[] there = new byte[extent.getLength()];
          server(server)
              .arena
              .get(replica.getIndex() * Layout.SLAB_SIZE + extent.getOffset(), there);
          int from = (int) extent.getFileOffset();
          assertThat(ByteBuffer.wrap(there))
              .isEqualTo(ByteBuffer.wrap(content, from, extent.getLength()));
          compared += extent.getLength();
        }
      }
    }
    return compared;
  }

  /** All of the file is on each of these servers. */
  void assertReplicas(String path, byte[] content, int... ids) {
    for (int id : ids) {
      assertThat(assertReplica(path, id, content)).as("at server %d", id).isEqualTo(content.length);
    }
  }

  boolean isOn(String path, int server) {
    return leader.extents(path).stream()
        .flatMap(extent -> slabs.slab(extent.getSlab()).getReplicasList().stream())
        .anyMatch(replica -> replica.getServer() == server);
  }
}
