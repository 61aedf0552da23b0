package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A flush of a few bytes is one call, however many replicas the file has. */
class SmallFlushTest {
  private static final int PIECE = 97;
  private static final int FIRST = 10_000;

  /** Flushes of which all bytes stay in the metadata. */
  private static final int INLINE_FLUSHES = 20;

  private static final int FLUSHES = 500;

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  @Timeout(value = 3, unit = TimeUnit.MINUTES)
  void shouldTakeOneCall(int replication) throws Exception {
    byte[] content = new byte[FIRST + FLUSHES * PIECE];
    Pattern.fill("/f", 0, content, content.length);
    String number = Integer.toString(replication);
    try (ServerCluster cluster =
            ServerCluster.start(
                3, "fs.tako.server.pool.size", "256m", "fs.tako.replication.min", number);
        TakoClient client = Clients.connect(cluster.uri(), "tcp", "fs.tako.replication", number);
        TakoClient reader = Clients.connect(cluster.uri(), "tcp")) {
      int length = FIRST;
      try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
        out.write(content, 0, length);
        out.hflush();
        long before = sends(client);
        for (int i = 1; i <= FLUSHES; i++) {
          out.write(content, length, PIECE);
          out.hflush();
          length += PIECE;
          if (i == INLINE_FLUSHES) {
            // Leases are renewed meanwhile.
            assertThat(sends(client) - before).isBetween((long) i, i + 2L);
          }
          if (i % 10 == 0) {
            assertThat(Clients.read(reader, "/f")).isEqualTo(Arrays.copyOf(content, length));
          }
        }
      }
      assertThat(Clients.read(reader, "/f")).isEqualTo(content);
      try (TakoOutputStream out = client.append("/f")) {
        out.write(content, 0, PIECE);
        out.hflush();
        out.write(content, PIECE, FIRST);
      }
      byte[] longer = Arrays.copyOf(content, content.length + PIECE + FIRST);
      System.arraycopy(content, 0, longer, content.length, PIECE + FIRST);
      assertThat(Clients.read(reader, "/f")).isEqualTo(longer);
      Clients.checkNothingLeaks(client);
    }
  }

  private static long sends(TakoClient client) {
    return client.transportCounters().get("tcp").get("sends");
  }
}
