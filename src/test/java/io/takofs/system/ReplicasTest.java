package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.ReadRange;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each replica of a file is whole, and one alone is enough for readers. */
class ReplicasTest {
  private static final int SERVERS = 3;
  private static final int LENGTH = 5_000_000;

  /** Each has another order in which it takes the copies, so one may not ask a given server. */
  private static final int CLIENTS_MAX = 10;

  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(500); // pools are read

  @ParameterizedTest
  @CsvSource({"shm, 3", "tcp, 3", "shm, 2", "tcp, 2", "shm, 1", "tcp, 1"})
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldReadTheSameFromEachReplicaAlone(String transport, int copies) throws Exception {
    String number = Integer.toString(copies);
    try (ServerCluster cluster =
            ServerCluster.start(
                SERVERS,
                "fs.tako.server.pool.size",
                "256m",
                "fs.tako.replication.min", // waits until the servers have joined
                number);
        TakoClient client =
            Clients.connect(cluster.uri(), transport, "fs.tako.replication", number)) {
      for (int left = 0; left < copies; left++) {
        String path = "/file-" + left;
        byte[] content = new byte[LENGTH];
        new Random(left).nextBytes(content);
        write(client, path, content);
        for (List<StoredUnits.Place> replicas : StoredUnits.find(cluster, content)) {
          assertThat(replicas).hasSize(copies);
          replicas.remove(left);
          for (StoredUnits.Place other : replicas) {
            other.flipABit();
          }
        }
        assertThat(Clients.read(client, path)).isEqualTo(content);
        try (TakoClient other = Clients.connect(cluster.uri(), transport)) {
          assertThat(Clients.read(other, path)).isEqualTo(content);
        }
      }
    }
  }

  /** A reader finds the wrong bit, takes another copy, and has the one with it replaced. */
  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldMendACopyWithAWrongBitThatAReaderFound(String transport) throws Exception {
    try (ServerCluster cluster =
            ServerCluster.start(
                SERVERS, "fs.tako.server.pool.size", "256m", "fs.tako.replication.min", "3");
        TakoClient client = Clients.connect(cluster.uri(), transport)) {
      for (int wrong = 0; wrong < SERVERS; wrong++) {
        String path = "/file-" + wrong;
        byte[] content = new byte[LENGTH];
        new Random(wrong).nextBytes(content);
        write(client, path, content);
        for (List<StoredUnits.Place> replicas : StoredUnits.find(cluster, content)) {
          assertThat(replicas).hasSize(SERVERS);
          replicas.get(wrong).flipABit();
        }
        // Each client has another order in which it takes the copies.
        Poll.until(
            "three right copies of " + path,
            Duration.ofMinutes(1),
            INTERVAL_NS,
            () -> {
              try (TakoClient reader = Clients.connect(cluster.uri(), transport)) {
                assertThat(Clients.read(reader, path)).isEqualTo(content);
              }
              return StoredUnits.areAt(cluster, content, SERVERS);
            });
      }
      Clients.checkNothingLeaks(client);
    }
  }

  /** A server that stands still keeps readers waiting no longer than another one takes. */
  @ParameterizedTest
  @EnumSource(Reading.class)
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void shouldAskAnotherServerWhenOneStandsStill(Reading how) throws Exception {
    byte[] content = new byte[LENGTH];
    new Random(7).nextBytes(content);
    try (ServerCluster cluster =
            ServerCluster.start(
                SERVERS, "fs.tako.server.pool.size", "256m", "fs.tako.replication.min", "3");
        TakoClient writer = Clients.connect(cluster.uri(), "tcp")) {
      write(writer, "/file", content);
      for (int still = 1; still < SERVERS; still++) {
        ServerProcess server = cluster.servers().get(still);
        long hedged = 0;
        for (int i = 0; hedged == 0; i++) {
          assertThat(i).as("clients that never asked another server").isLessThan(CLIENTS_MAX);
          try (TakoClient client =
              Clients.connect(cluster.uri(), "tcp", "fs.tako.client.replica.timeout", "4m")) {
            hedged = readWhileStill(client, how, server, content);
          }
        }
        try (TakoClient client =
            Clients.connect(
                cluster.uri(),
                "tcp",
                "fs.tako.client.replica.timeout",
                "1s",
                "fs.tako.client.hedged.read.threshold",
                "0ms")) {
          readWhileStill(client, how, server, content);
          assertThat(client.hedgedReads()).isZero();
        }
      }
    }
  }

  /** Returns how many reads asked another server meanwhile. */
  private static long readWhileStill(
      TakoClient client, Reading how, ServerProcess server, byte[] content) throws Exception {
    assertThat(read(client, how)).isEqualTo(content);
    long before = client.hedgedReads();
    server.signal("STOP");
    try {
      assertThat(read(client, how)).isEqualTo(content);
    } finally {
      server.signal("CONT");
    }
    return client.hedgedReads() - before;
  }

  private enum Reading {
    STREAM,
    POSITIONED,
    RANGES
  }

  private static byte[] read(TakoClient client, Reading how) throws IOException {
    byte[] content = new byte[LENGTH];
    int step = 200_000;
    List<ReadRange> ranges = new ArrayList<>();
    try (TakoInputStream in = client.open("/file")) {
      for (int from = 0; from < LENGTH; from += step) {
        int count = Math.min(step, LENGTH - from);
        switch (how) {
          case STREAM -> assertThat(in.readNBytes(content, from, count)).isEqualTo(count);
          case POSITIONED -> in.readFully(from, content, from, count);
          case RANGES -> ranges.add(new ReadRange(from, ByteBuffer.wrap(content, from, count)));
        }
      }
      in.read(ranges);
    }
    return content;
  }

  private static void write(TakoClient client, String path, byte[] content) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      Random random = new Random(content.length);
      for (int from = 0; from < content.length; ) {
        int count = Math.min(content.length - from, 1 + random.nextInt(200_000));
        out.write(content, from, count);
        out.hflush();
        from += count;
      }
    }
  }
}
