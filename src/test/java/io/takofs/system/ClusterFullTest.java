package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers of unequal size: how much they take, what is said when one is full, room afterwards. */
class ClusterFullTest {
  /** What is left of the pools is for data, and the namespace is on one server. */
  private static final String SMALL_LOG = "fs.tako.server.pool.log.size";

  private static final String SMALL_LOG_BYTES = "24m";

  private static final int FILE_BYTES = 8 << 20;
  private static final String[] UNEQUAL = {"256m", "512m", "1g"};
  private static final double SHARES_APART = 0.15;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void shouldFillUnequalServersOverTcpAndNameTheFullOne() throws Exception {
    fillUnequalServersAndNameTheFullOne("tcp");
  }

  @Test
  @Tag("long")
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void shouldFillUnequalServersOverShmAndNameTheFullOne() throws Exception {
    fillUnequalServersAndNameTheFullOne("shm");
  }

  private static void fillUnequalServersAndNameTheFullOne(String transport) throws Exception {
    try (ServerCluster cluster =
            ServerCluster.startWithPools(
                UNEQUAL,
                SMALL_LOG,
                SMALL_LOG_BYTES,
                "fs.tako.server.quarantine",
                "200ms",
                "fs.tako.replication.min",
                "2");
        TakoClient client = Clients.connect(cluster.uri(), transport)) {
      ClusterHealth.awaitServers(client, 3, LIMIT);

      // Three copies: as much as the smallest server can have, less what its last slabs cannot.
      TakoException full = fill(client, "/three", 3);
      assertThat(full.getMessage()).contains("space", "full", authority(cluster.servers().get(0)));
      long smallest = ClusterHealth.dataBytes(client, cluster.servers().get(0));
      int files = check(client, "/three");
      assertThat((long) files * FILE_BYTES).isBetween(smallest * 3 / 4, smallest);

      // Room after deletes, and nothing that was there before is lost.
      client.delete("/three/f0", false);
      client.delete("/three/f1", false);
      awaitRoom(client, "/again", 3);
      check(client, "/three");
      check(client, "/again");
      client.delete("/three", true);
      client.delete("/again", true);

      // Two copies: each file has one on the largest server, so the others are filled.
      full = fill(client, "/two", 2);
      assertThat(full.getMessage())
          .contains("space", "full", authority(cluster.servers().get(0)))
          .contains(authority(cluster.servers().get(1)))
          .doesNotContain(authority(cluster.servers().get(2)));
      long others = smallest + ClusterHealth.dataBytes(client, cluster.servers().get(1));
      files = check(client, "/two");
      assertThat((long) files * FILE_BYTES).isBetween(others * 3 / 4, others);
      Clients.checkNothingLeaks(client);
    }
  }

  /** Deletes leave a little in each slab of one copy; then files of three copies are written. */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void shouldMakeRoomOfSparseSlabsForFilesOfMoreCopies() throws Exception {
    try (ServerCluster cluster =
            ServerCluster.startWithPools(
                new String[] {"256m", "256m", "256m"},
                SMALL_LOG,
                SMALL_LOG_BYTES,
                "fs.tako.server.quarantine",
                "200ms");
        TakoClient client = Clients.connect(cluster.uri(), "shm")) {
      ClusterHealth.awaitServers(client, 3, LIMIT);
      fill(client, "/one", 1);
      int files = check(client, "/one");
      for (int file = 0; file < files; file++) {
        if (file % 4 != 0) {
          client.delete("/one/f" + file, false);
        }
      }
      int kept = check(client, "/one");

      client.mkdirs("/three");
      long smallest = ClusterHealth.dataBytes(client, cluster.servers().get(0));
      int wanted = (int) (smallest / 2 / FILE_BYTES); // half of the slabs are not wholly free
      for (int file = 0; file < wanted; file++) {
        write(client, "/three/f" + file, 3);
      }
      ClusterHealth.await(
          client, "emptied slabs", LIMIT, status -> status.getRepair().getSlabsEmptied() > 0);
      assertThat(check(client, "/three")).isEqualTo(wanted);
      assertThat(check(client, "/one")).isEqualTo(kept);
      Clients.checkNothingLeaks(client);
    }
  }

  /**
   * One copy may be anywhere. The writer's server gets more than the others at first, until copies
   * have moved away.
   */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void shouldFillUnequalServersEvenly() throws Exception {
    try (ServerCluster cluster = ServerCluster.startWithPools(UNEQUAL, SMALL_LOG, SMALL_LOG_BYTES);
        TakoClient client = Clients.connect(cluster.uri(), "tcp")) {
      ClusterHealth.awaitServers(client, 3, LIMIT);
      long space = 0;
      for (ServerProcess server : cluster.servers()) {
        space += ClusterHealth.dataBytes(client, server);
      }
      client.mkdirs("/half");
      for (long file = 0; file < space / 2 / FILE_BYTES; file++) {
        write(client, "/half/f" + file, 1);
      }
      ClusterHealth.await(
          client,
          "servers that are about as full",
          LIMIT,
          status -> isEven(ClusterHealth.usedShares(status)));
    }
  }

  /** Of what servers said before the files were written nothing is half full. */
  private static boolean isEven(List<Double> shares) {
    double least = Collections.min(shares);
    return least > 0.5 - SHARES_APART && Collections.max(shares) - least < SHARES_APART;
  }

  private static String authority(ServerProcess server) {
    URI uri = server.uri();
    return uri.getHost() + ":" + uri.getPort();
  }

  /** Writes files until there is no space, and returns what is said then. */
  private static TakoException fill(TakoClient client, String directory, int copies)
      throws IOException {
    client.mkdirs(directory);
    for (int file = 0; ; file++) {
      String path = directory + "/f" + file;
      try {
        write(client, path, copies);
      } catch (TakoException e) {
        assertThat(e.status()).isEqualTo(Status.NO_SPACE);
        client.delete(path, false);
        return e;
      }
    }
  }

  private static void awaitRoom(TakoClient client, String directory, int copies) throws Exception {
    client.mkdirs(directory);
    String path = directory + "/f0";
    Poll.until(
        "writing works again after a delete",
        LIMIT,
        () -> {
          try {
            write(client, path, copies);
            return true;
          } catch (TakoException e) {
            assertThat(e.status()).isEqualTo(Status.NO_SPACE);
            client.delete(path, false);
            return false;
          }
        });
  }

  private static void write(TakoClient client, String path, int copies) throws IOException {
    byte[] content = new byte[FILE_BYTES];
    Pattern.fill(path, 0, content, FILE_BYTES);
    try (TakoOutputStream out =
        client.create(path, CreateOptions.DEFAULT.withReplication(copies))) {
      out.write(content);
    }
  }

  /** Compares all files that are there, and returns how many. */
  private static int check(TakoClient client, String directory) throws IOException {
    int files = 0;
    for (var file : Clients.list(client, directory)) {
      byte[] content = Clients.read(client, file.path());
      assertThat(content).as(file.path()).hasSize(FILE_BYTES);
      Pattern.check(file.path(), content);
      files++;
    }
    return files;
  }
}
