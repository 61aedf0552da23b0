package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.BlockPlaces;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.RepairStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three servers: a file that has data gets another number of copies. */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
class SetReplicationTest {
  private static final int SERVERS = 3;
  private static final int BLOCK = 1 << 20;
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Slow enough that a server can be killed in the middle. */
  private static final String SLOW = "12m";

  private final Random random = new Random(17);
  private final Map<String, byte[]> files = new TreeMap<>();

  private static ServerCluster start(String bandwidth) throws Exception {
    return ServerCluster.start(
        SERVERS,
        "fs.tako.server.pool.size",
        "256m",
        "fs.tako.server.quarantine",
        "200ms",
        "fs.tako.server.dead.interval",
        "5s",
        "fs.tako.repair.bandwidth",
        bandwidth);
  }

  private void write(TakoClient client, String path, int copies, int length) throws IOException {
    byte[] content = new byte[length];
    random.nextBytes(content);
    try (TakoOutputStream out =
        client.create(path, CreateOptions.DEFAULT.withReplication(copies))) {
      out.write(content, 0, length);
    }
    files.put(path, content);
  }

  private void checkBytes(TakoClient client) throws IOException {
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      assertThat(Clients.read(client, file.getKey())).isEqualTo(file.getValue());
    }
  }

  /** As Hadoop's shell does that waits for the replication. */
  private static boolean has(TakoClient client, String path, int copies) throws IOException {
    List<BlockPlaces> blocks = client.blockPlaces(path, 0, Long.MAX_VALUE, BLOCK);
    assertThat(blocks).isNotEmpty();
    return blocks.stream().allMatch(block -> block.copies() == copies);
  }

  private static RepairStatus status(TakoClient client) throws IOException {
    return client.administration().clusterStatus().getRepair();
  }

  private void setReplication(TakoClient client, int copies) throws IOException {
    for (String path : files.keySet()) {
      client.setReplication(path, copies);
    }
  }

  private void awaitCopies(TakoClient client, int copies) throws Exception {
    try {
      Poll.until(
          copies + " copies of all files",
          LIMIT,
          INTERVAL_NS,
          () -> {
            for (String path : files.keySet()) {
              if (!has(client, path, copies)) {
                return false;
              }
            }
            return true;
          });
      Poll.until(
          "nothing is left to be moved",
          LIMIT,
          INTERVAL_NS,
          () -> status(client).getFilesToMove() == 0);
    } catch (AssertionError e) {
      throw new AssertionError(
          e.getMessage() + "; it says\n" + client.administration().clusterStatus(), e);
    }
  }

  private void writeFiles(TakoClient client, int copies) throws IOException {
    write(client, "/large", copies, 20_000_001);
    write(client, "/blocks", copies, 3 * BLOCK);
    write(client, "/medium", copies, 300_000);
    write(client, "/small", copies, 10);
    for (int i = 0; i < 20; i++) {
      write(client, "/many" + i, copies, 5000 + i);
    }
  }

  @Test
  void shouldMakeMoreAndFewerCopiesWhileTheBytesAreRead() throws Exception {
    makeMoreAndFewerCopies("tcp");
  }

  @Test
  @Tag("long")
  void shouldMakeMoreAndFewerCopiesWhileTheBytesAreMapped() throws Exception {
    makeMoreAndFewerCopies("shm");
  }

  private void makeMoreAndFewerCopies(String transport) throws Exception {
    try (ServerCluster cluster = start("0");
        TakoClient client = Clients.connect(cluster.uri(), transport)) {
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
      writeFiles(client, 1);
      ExecutorService readers = Executors.newSingleThreadExecutor();
      AtomicBoolean stop = new AtomicBoolean();
      try (TakoClient other = Clients.connect(cluster.uri(), transport)) {
        Future<?> reading =
            readers.submit(
                () -> {
                  while (!stop.get()) {
                    checkBytes(other);
                  }
                  return null;
                });
        for (int copies : new int[] {3, 1, 3, 2, 1}) {
          setReplication(client, copies);
          awaitCopies(client, copies);
          checkBytes(client);
        }
        stop.set(true);
        reading.get(1, TimeUnit.MINUTES);
      } finally {
        stop.set(true);
        readers.shutdownNow();
      }
      Clients.checkNothingLeaks(client);
    }
  }

  @Test
  void shouldGoOnWhenServersAreKilledInTheMiddle() throws Exception {
    try (ServerCluster cluster = start(SLOW);
        TakoClient client = ClusterLoad.connect(cluster.uri(), "tcp")) {
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
      writeFiles(client, 1);
      for (int killed = 0; killed < SERVERS; killed++) {
        int copies = killed == 1 ? 1 : 3;
        long before = status(client).getBytesMoved();
        setReplication(client, copies);
        Poll.until(
            "it has begun", LIMIT, INTERVAL_NS, () -> status(client).getBytesMoved() > before);
        ServerProcess server = cluster.servers().get(killed);
        server.kill();
        server.restart();
        checkBytes(client);
        ClusterHealth.awaitServers(client, SERVERS, LIMIT);
        awaitCopies(client, copies);
        checkBytes(client);
      }
      ClusterHealth.awaitCopies(client, SERVERS, LIMIT);
      Clients.checkNothingLeaks(client);
    }
  }

  /** As MapReduce asks for the files of a job; only a shell that waits for them has to be ended. */
  @Test
  void shouldStoreANumberOfCopiesAboveTheServersAndMakeAsManyAsThereCanBe() throws Exception {
    try (ServerCluster cluster = start("0");
        TakoClient client = Clients.connect(cluster.uri(), "tcp")) {
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
      writeFiles(client, 1);
      setReplication(client, 10);
      awaitCopies(client, SERVERS);
      for (String path : files.keySet()) {
        assertThat(client.getStatus(path).replication()).isEqualTo(10);
      }
      checkBytes(client);
      Clients.checkNothingLeaks(client);
    }
  }

  @Test
  void shouldMakeTheCopiesThatAShellWaitsFor() throws Exception {
    try (ServerCluster cluster = start("0");
        TakoClient client = Clients.connect(cluster.uri(), "tcp")) {
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
      writeFiles(client, 2);
      List<String> paths = new ArrayList<>(files.keySet());
      for (String copies : List.of("3", "1")) {
        List<String> command = new ArrayList<>(List.of("fs", "-setrep", "-w", copies));
        command.addAll(paths);
        CommandLineRun run =
            CommandLineRun.of(
                Map.of("TAKO_URI", cluster.uri().toString()), command.toArray(String[]::new));
        assertThat(run.code()).as(run.output()).isZero();
        checkBytes(client);
      }
      Clients.checkNothingLeaks(client);
    }
  }
}
