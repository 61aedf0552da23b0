package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.BlockPlaces;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.ServerHealth;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * A cluster on two machines that only a wire joins: two servers are on the other machine, the third
 * server and the clients on this one. Every file has three copies, and all three servers keep the
 * namespace.
 */
@Tag("wire")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class WireClusterTest {
  private static final int SERVERS = 3;
  private static final int PORT = 7420;

  /** Of the second server there: the port between them is that of the first one's pages. */
  private static final int OTHER_PORT = PORT + 2;

  private static final int LENGTH = 3_000_000;
  private static final int CHANGES = 100;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static Wire wire;
  private static RemoteServer namespace;
  private static RemoteServer other;
  private static ServerProcess near;
  private static Map<Integer, RemoteServer> remote; // by number
  private static int nearId;

  private String directory;

  @BeforeAll
  static void startServers() throws Exception {
    wire = new Wire();
    String addresses =
        "%s:%d,%s:%d,%s:%d"
            .formatted(Wire.SERVER, PORT, Wire.SERVER, OTHER_PORT, ServerAddress.host(), PORT);
    String[] settings = {
      "fs.tako.cluster.servers", addresses,
      "fs.tako.replication.min", Integer.toString(SERVERS), // waits until the servers have joined
      "fs.tako.group.election.timeout", "2s", // a processor is emulated, and stands still at times
      "fs.tako.server.quarantine", "200ms",
      "fs.tako.server.pool.size", "192m",
      "fs.tako.server.pool.pages.size", "32m",
      "fs.tako.server.pool.log.size", "64m"
    };
    namespace = new RemoteServer(wire.shell(), Wire.SERVER, PORT, settings);
    other = new RemoteServer(wire.shell(), Wire.SERVER, OTHER_PORT, settings);
    namespace.launch();
    other.launch();
    String[] here = new String[settings.length + 2];
    System.arraycopy(settings, 0, here, 0, settings.length);
    here[settings.length] = "fs.tako.server.port";
    here[settings.length + 1] = Integer.toString(PORT);
    near = ServerProcess.start(here);
    namespace.awaitReady();
    other.awaitReady();
    try (TakoClient client = connect()) {
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
      remote = Map.of(idOf(client, namespace.uri()), namespace, idOf(client, other.uri()), other);
      nearId = idOf(client, near.uri());
    }
  }

  @AfterAll
  static void stopServers() throws Exception {
    if (near != null) {
      near.close();
    }
  }

  @BeforeEach
  void name(TestInfo test) {
    directory = "/" + test.getTestMethod().orElseThrow().getName();
  }

  /** An event that befalls a leader; a client says who leads then. */
  @FunctionalInterface
  private interface LeaderDisturbance {
    void happen(TakoClient client) throws Exception;
  }

  private static URI uri() {
    return namespace.uri();
  }

  private static TakoClient connect() throws Exception {
    return Clients.connect(uri(), Wire.TRANSPORT, Wire.PATIENCE);
  }

  private static byte[] content(int seed) {
    byte[] content = new byte[LENGTH];
    new Random(seed).nextBytes(content);
    return content;
  }

  @Test
  @Order(1)
  void shouldKeepCopiesOnBothMachines() throws Exception {
    byte[] content = content(1);
    try (TakoClient client = connect()) {
      try (TakoOutputStream out = client.create("/both", CreateOptions.DEFAULT)) {
        out.write(content);
      }
      for (BlockPlaces block : client.blockPlaces("/both", 0, LENGTH, 1 << 20)) {
        assertThat(block.copies()).isEqualTo(SERVERS);
        assertThat(block.hosts())
            .extracting(BlockPlaces.Host::host)
            .contains(Wire.SERVER, ServerAddress.host());
      }
      assertThat(Clients.read(client, "/both")).isEqualTo(content);
      assertThat(client.transportCounters()).containsOnlyKeys(Wire.TRANSPORT);
    }
  }

  @Test
  @Order(2)
  void shouldCallNoServerOfTheOtherMachineForFileData() throws Exception {
    byte[] content = content(2);
    CreateOptions options = CreateOptions.DEFAULT.withExpectedLength(LENGTH);
    try (TakoClient client = connect()) {
      try (TakoOutputStream out = client.create("/counted", options)) {
        out.write(content, 0, LENGTH / 2);
        out.hflush();
        HandledCalls handled = HandledCalls.of(client);
        List<String> before = handled.now();
        out.write(content, LENGTH / 2, LENGTH - LENGTH / 2);
        assertThat(handled.now()).as("handled for a write").isEqualTo(before);
      }
      assertThat(Clients.read(client, "/counted")).isEqualTo(content);
    }
  }

  /** The bytes come from the other machine then. */
  @Test
  @Order(3)
  void shouldReadFromTheOtherMachineWhileTheServerOfThisOneIsDown() throws Exception {
    byte[] content = content(3);
    try (TakoClient client = connect()) {
      try (TakoOutputStream out = client.create("/far", CreateOptions.DEFAULT)) {
        out.write(content);
      }
      near.kill();
      assertThat(Clients.read(client, "/far")).isEqualTo(content);
      near.restart();
      ClusterHealth.awaitCopies(client, SERVERS, LIMIT);
      assertThat(Clients.read(client, "/far")).isEqualTo(content);
    }
  }

  @Test
  @Order(4)
  void shouldGoOnAfterTheWireWasCut() throws Exception {
    checkThatAWriterGoesOn(() -> wire.whileCut(() -> {}));
  }

  @Test
  @Order(5)
  void shouldGoOnAfterAServerOfTheOtherMachineIsKilled() throws Exception {
    checkThatAWriterGoesOn(
        () -> {
          other.kill();
          other.start();
        });
  }

  @Test
  @Order(6)
  void shouldGoOnAfterTheServerOfTheNamespaceIsKilled() throws Exception {
    checkThatAWriterGoesOn(
        () -> {
          namespace.kill();
          namespace.start();
        });
  }

  /** The log is written into the memory of the servers that follow. */
  @Test
  @Order(7)
  void shouldReplicateChangesWithoutACallAtFollowers() throws Exception {
    for (int id = 1; id <= SERVERS; id++) {
      try (TakoClient client = connect()) {
        lead(client, id);
        HandledCalls handled = HandledCalls.of(client);
        change(client, directory + "/first-" + id); // a message to the former leader may be late
        List<String> before = handled.atFollowers();
        change(client, directory + "/" + id);
        assertThat(handled.atFollowers()).as("while " + id + " leads").isEqualTo(before);
      }
    }
  }

  private static void change(TakoClient client, String prefix) throws Exception {
    for (int i = 0; i < CHANGES; i++) {
      client.mkdirs(prefix + "-" + i, 0777, true);
    }
  }

  @Test
  @Order(8)
  void shouldGoOnAfterEachLeaderIsKilled() throws Exception {
    for (int leader = 1; leader <= SERVERS; leader++) {
      int id = leader;
      checkThatAWriterGoesOnWithout(
          id,
          client -> {
            long term = term(client);
            if (id == nearId) {
              near.kill();
              near.restart();
            } else {
              remote.get(id).kill();
              remote.get(id).start();
            }
            assertThat(term(client)).as("of the next leader").isGreaterThan(term);
          });
    }
  }

  @Test
  @Order(9)
  void shouldGoOnWhileEachLeaderStandsStill() throws Exception {
    for (int leader = 1; leader <= SERVERS; leader++) {
      int id = leader;
      checkThatAWriterGoesOnWithout(
          id,
          client -> {
            signal(id, "STOP");
            GroupHealth.awaitLeadOfAnother(client, id, LIMIT);
            signal(id, "CONT");
          });
    }
  }

  /** A leader on the other machine has a majority there, and goes on; that of this one has none. */
  @Test
  @Order(10)
  void shouldGoOnAfterEachLeaderIsCutOff() throws Exception {
    for (int id = 1; id <= SERVERS; id++) {
      boolean isAlone = id == nearId;
      checkThatAWriterGoesOnWithout(
          id,
          client -> {
            long term = term(client);
            wire.whileCut(Wire::pass);
            if (isAlone) {
              assertThat(term(client)).as("of the other machine's leader").isGreaterThan(term);
            }
          });
    }
  }

  @Test
  @Order(11)
  void shouldGoOnWhileTheWireIsLateAndLosesPackets() throws Exception {
    for (int leader = 1; leader <= SERVERS; leader++) {
      int id = leader;
      checkThatAWriterGoesOnWithout(
          id,
          client ->
              wire.whileLateAndLossy(
                  () -> {
                    try (TakoClient another = connect()) {
                      change(another, directory + "-meanwhile/" + id);
                    }
                  }));
    }
  }

  /** Has {@code leader} lead, and checks a writer while it is disturbed. */
  private void checkThatAWriterGoesOnWithout(int leader, LeaderDisturbance disturbance)
      throws Exception {
    try (TakoClient client = connect()) {
      lead(client, leader);
      Wire.checkThatAWriterGoesOn(
          client, uri(), directory + "-" + leader, () -> disturbance.happen(client));
      GroupHealth.awaitMembers(client, SERVERS, LIMIT);
      ClusterHealth.awaitCopies(client, SERVERS, LIMIT);
    }
  }

  private static long term(TakoClient client) throws Exception {
    return client.administration().clusterStatus().getGroup().getTerm();
  }

  private static void lead(TakoClient client, int id) throws Exception {
    GroupHealth.awaitMembers(client, SERVERS, LIMIT);
    GroupHealth.awaitLead(client, id, LIMIT);
    GroupHealth.awaitMembers(client, SERVERS, LIMIT);
  }

  private static int idOf(TakoClient client, URI server) throws Exception {
    return client.administration().clusterStatus().getServersList().stream()
        .map(ServerHealth::getEntry)
        .filter(entry -> server.getAuthority().equals(entry.getHost() + ":" + entry.getPort()))
        .findFirst()
        .orElseThrow()
        .getId();
  }

  private static void signal(int id, String name) throws Exception {
    if (id == nearId) {
      near.signal(name);
    } else {
      remote.get(id).signal(name);
    }
  }

  private void checkThatAWriterGoesOn(Wire.Disturbance disturbance) throws Exception {
    try (TakoClient client = connect()) {
      Wire.checkThatAWriterGoesOn(client, uri(), directory, disturbance);
      ClusterHealth.awaitCopies(client, SERVERS, LIMIT);
    }
  }
}
