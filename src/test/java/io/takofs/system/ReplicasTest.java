package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.ReadRange;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(500); // pools are read

  /** Where a unit of a file lies on one server. */
  private record Spot(ServerProcess server, long offset) {}

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
        for (List<Spot> replicas : find(cluster, content)) {
          assertThat(replicas).hasSize(copies);
          replicas.remove(left);
          for (Spot other : replicas) {
            flipABit(other);
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
        for (List<Spot> replicas : find(cluster, content)) {
          assertThat(replicas).hasSize(SERVERS);
          flipABit(replicas.get(wrong));
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
              return find(cluster, content).stream()
                  .allMatch(each -> each.stream().map(Spot::server).distinct().count() == SERVERS);
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
        try (TakoClient client =
            Clients.connect(cluster.uri(), "tcp", "fs.tako.client.replica.timeout", "4m")) {
          assertThat(read(client, how)).isEqualTo(content);
          ServerProcess server = cluster.servers().get(still);
          server.signal("STOP");
          try {
            long before = client.hedgedReads();
            assertThat(read(client, how)).isEqualTo(content);
            assertThat(client.hedgedReads()).isGreaterThan(before);
          } finally {
            server.signal("CONT");
          }
        }
      }
    }
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

  /** The replicas of each unit of {@code content}, in the order of the servers. */
  private static List<List<Spot>> find(ServerCluster cluster, byte[] content) throws IOException {
    List<List<Spot>> units = new ArrayList<>();
    for (int at = 0; at < content.length; at += Layout.UNIT_SIZE) {
      units.add(new ArrayList<>());
    }
    byte[] unit = new byte[Layout.UNIT_SIZE];
    for (ServerProcess server : cluster.servers()) {
      try (FileChannel data = open(server)) {
        for (long at = 0; at + unit.length <= data.size(); at += unit.length) {
          data.read(ByteBuffer.wrap(unit), at);
          int index = indexOf(unit, content);
          if (index >= 0) {
            units.get(index).add(new Spot(server, at));
          }
        }
      }
    }
    return units;
  }

  private static int indexOf(byte[] unit, byte[] content) {
    for (int from = 0; from < content.length; from += unit.length) {
      int count = Math.min(unit.length, content.length - from);
      if (Arrays.equals(unit, 0, count, content, from, from + count)) {
        return from / unit.length;
      }
    }
    return -1;
  }

  private static void flipABit(Spot spot) throws IOException {
    try (FileChannel data = open(spot.server())) {
      ByteBuffer one = ByteBuffer.allocate(1);
      data.read(one, spot.offset() + 77);
      one.put(0, (byte) (one.get(0) ^ 4)).flip();
      data.write(one, spot.offset() + 77);
    }
  }

  private static FileChannel open(ServerProcess server) throws IOException {
    return FileChannel.open(
        server.pool().resolve("data"), StandardOpenOption.READ, StandardOpenOption.WRITE);
  }
}
