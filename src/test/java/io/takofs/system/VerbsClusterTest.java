package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * Three servers that are written over verbs, each through windows of its own. They are started
 * once, which takes long where processors are emulated; the test that kills one comes last.
 */
@Tag("verbs-cluster")
@Timeout(value = 25, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class VerbsClusterTest {
  private static final int SERVERS = 3;
  private static final int LENGTH = 3_000_000;

  private static ServerCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster =
        ServerCluster.start(
            SERVERS,
            "fs.tako.server.pool.size",
            "256m",
            "fs.tako.group.election.timeout",
            "2s", // the servers and the client share one emulated processor
            "fs.tako.replication.min", // waits until the servers have joined
            Integer.toString(SERVERS));
  }

  @AfterAll
  static void stop() throws IOException {
    if (cluster != null) {
      cluster.close();
    }
  }

  private static TakoClient connect() throws IOException {
    return connect("5s");
  }

  /**
   * @param patience with a server when others have the same data
   */
  private static TakoClient connect(String patience) throws IOException {
    return Clients.connect(
        cluster.uri(),
        "verbs",
        "fs.tako.replication",
        "3",
        "fs.tako.client.connect.timeout", // the servers may still be busy with their start
        "3m",
        "fs.tako.client.timeout",
        "3m",
        "fs.tako.client.replica.timeout",
        patience);
  }

  private static byte[] content(int seed) {
    byte[] content = new byte[LENGTH];
    new Random(seed).nextBytes(content);
    return content;
  }

  private static void write(TakoClient client, String path, byte[] content) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
  }

  /** Units of {@code content} that a server's data file has. */
  private static int unitsAt(ServerProcess server, byte[] content) throws IOException {
    byte[] unit = new byte[Layout.UNIT_SIZE];
    int found = 0;
    try (FileChannel data =
        FileChannel.open(server.pool().resolve("data"), StandardOpenOption.READ)) {
      for (long at = 0; at + unit.length <= data.size(); at += unit.length) {
        data.read(ByteBuffer.wrap(unit), at);
        for (int from = 0; from + unit.length <= content.length; from += unit.length) {
          if (Arrays.equals(unit, 0, unit.length, content, from, from + unit.length)) {
            found++;
          }
        }
      }
    }
    return found;
  }

  private static long bytesSent(TakoClient client) {
    return client.transportCounters().get("verbs").get("bytes");
  }

  @Test
  @Order(1)
  void shouldWriteToAllServersAndReadFromEach() throws Exception {
    // A writer that leaves a slow server stores twice what it had begun there.
    try (TakoClient client = connect("3m")) {
      assertThat(client.transportVerdict()).startsWith("verbs");
      for (int file = 0; file < 3; file++) {
        byte[] content = content(file);
        write(client, "/file-" + file, content);
        assertThat(Clients.read(client, "/file-" + file)).isEqualTo(content);
        for (ServerProcess server : cluster.servers()) {
          assertThat(unitsAt(server, content)).isEqualTo(LENGTH / Layout.UNIT_SIZE);
        }
      }
      assertThat(client.transportCounters()).containsOnlyKeys("verbs");
      Clients.checkNothingLeaks(client);
    }
  }

  @Test
  @Order(2)
  void shouldCallNoServerForFileData() throws Exception {
    byte[] content = content(3);
    CreateOptions options = CreateOptions.DEFAULT.withExpectedLength(LENGTH);
    try (TakoClient client = connect()) {
      write(client, "/connects", content(4));
      HandledCalls handled = HandledCalls.of(client);
      List<String> atFirst = handled.now();
      try (TakoOutputStream out = client.create("/counted", options)) {
        out.write(content, 0, Layout.UNIT_SIZE);
        out.hflush();
        List<String> before = handled.now();
        assertThat(before).as("it was created, and windows opened").isNotEqualTo(atFirst);
        long sent = bytesSent(client);
        out.write(content, Layout.UNIT_SIZE, LENGTH - Layout.UNIT_SIZE);
        assertThat(handled.now()).as("handled for a write").isEqualTo(before);
        assertThat(bytesSent(client) - sent).isGreaterThan(SERVERS * LENGTH / 2);
      }
      byte[] read = new byte[LENGTH];
      try (TakoInputStream in = client.open("/counted")) {
        read[0] = (byte) in.read(); // it knows the extents
        List<String> before = handled.now();
        in.readFully(1, read, 1, LENGTH - 1);
        assertThat(handled.now()).as("handled for a read").isEqualTo(before);
      }
      assertThat(read).isEqualTo(content);
    }
  }

  /** Its file is taken from it: what it still has to store lands nowhere. */
  @Test
  @Order(3)
  void shouldLetAFencedWriterStoreNothing() throws Exception {
    try (TakoClient writer = connect();
        TakoClient other = connect()) {
      TakoOutputStream out = writer.create("/taken", CreateOptions.DEFAULT);
      byte[] late = content(5);
      out.write(late, 0, Layout.UNIT_SIZE);
      other.delete("/taken", false);
      Clients.checkNothingLeaks(other);
      byte[] content = content(6);
      write(other, "/others", content);
      TakoException lost =
          catchThrowableOfType(
              () -> {
                out.write(late, Layout.UNIT_SIZE, LENGTH - Layout.UNIT_SIZE);
                out.hflush();
              },
              TakoException.class);
      assertThat(lost.status()).isEqualTo(Status.LEASE_LOST);
      assertThat(Clients.read(other, "/others")).isEqualTo(content);
      for (ServerProcess server : cluster.servers()) {
        assertThat(unitsAt(server, content)).isEqualTo(LENGTH / Layout.UNIT_SIZE);
        assertThat(unitsAt(server, late)).isLessThanOrEqualTo(1);
      }
    }
  }

  @Test
  @Order(4)
  void shouldGoOnWhenAServerIsKilled() throws Exception {
    try (TakoClient client = connect()) {
      byte[] content = content(7);
      ServerProcess killed = cluster.servers().get(SERVERS - 1);
      try (TakoOutputStream out = client.create("/goes-on", CreateOptions.DEFAULT)) {
        out.write(content, 0, LENGTH / 2);
        out.hflush();
        killed.kill();
        killed.restart();
        out.write(content, LENGTH / 2, LENGTH - LENGTH / 2);
      }
      assertThat(Clients.read(client, "/goes-on")).isEqualTo(content);
      try (TakoClient other = connect()) {
        assertThat(Clients.read(other, "/goes-on")).isEqualTo(content);
      }
    }
  }
}
