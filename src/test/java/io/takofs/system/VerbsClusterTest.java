package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three servers that are written over verbs, each through windows of its own. */
@Tag("verbs-cluster")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class VerbsClusterTest {
  private static final int SERVERS = 3;
  private static final int LENGTH = 3_000_000;

  private static ServerCluster start() throws Exception {
    return ServerCluster.start(
        SERVERS,
        "fs.tako.server.pool.size",
        "256m",
        "fs.tako.replication.min", // waits until the servers have joined
        Integer.toString(SERVERS));
  }

  private static TakoClient connect(ServerCluster cluster) throws IOException {
    return Clients.connect(
        cluster.uri(), "verbs", "fs.tako.replication", "3", "fs.tako.client.connect.timeout", "1m");
  }

  private static byte[] content(int seed) {
    byte[] content = new byte[LENGTH];
    new Random(seed).nextBytes(content);
    return content;
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

  @Test
  void shouldWriteToAllServersAndReadFromEach() throws Exception {
    try (ServerCluster cluster = start();
        TakoClient client = connect(cluster)) {
      assertThat(client.transportVerdict()).startsWith("verbs");
      for (int file = 0; file < 3; file++) {
        byte[] content = content(file);
        try (TakoOutputStream out = client.create("/file-" + file, CreateOptions.DEFAULT)) {
          out.write(content);
        }
        assertThat(Clients.read(client, "/file-" + file)).isEqualTo(content);
        for (ServerProcess server : cluster.servers()) {
          assertThat(unitsAt(server, content)).isEqualTo(LENGTH / Layout.UNIT_SIZE);
        }
      }
      assertThat(client.transportCounters()).containsOnlyKeys("verbs");
      Clients.checkNothingLeaks(client);
    }
  }
}
