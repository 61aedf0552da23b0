package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.FreePorts;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import io.takofs.server.RunningServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three servers in this process: copies that one of them loses are made again. */
@Timeout(300)
class RepairTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long INTERVAL_NS = Duration.ofMillis(500).toNanos(); // pools are read
  private static final String USER = System.getProperty("user.name");
  private static final int SERVERS = 3;
  private static final int LENGTH = 3_000_000;

  private final List<Integer> ports = new ArrayList<>();
  private final List<RunningServer> servers = new ArrayList<>();
  private final Random random = new Random(11);
  private Path directory;

  @BeforeEach
  void start() throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "tako-test-");
    ports.addAll(new FreePorts(new Random()).onLoopback(SERVERS));
    for (int i = 0; i < SERVERS; i++) {
      servers.add(start(i, true));
    }
  }

  private RunningServer start(int server, boolean format) throws IOException {
    TakoConfig config =
        new TakoConfig()
            .set("fs.tako.server.host", "127.0.0.1")
            .set("fs.tako.server.port", Integer.toString(ports.get(server)))
            .set("fs.tako.server.http.address", "")
            .set("fs.tako.server.pool.path", pool(server).toString())
            .set("fs.tako.server.state.dir", directory.resolve("state-" + server).toString())
            .set("fs.tako.server.pool.size", "128m")
            .set("fs.tako.server.quarantine", "0s")
            .set("fs.tako.server.dead.interval", "1s")
            .set("fs.tako.cluster.catalog.dir", directory.resolve("catalog").toString())
            .set(
                "fs.tako.cluster.servers",
                ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(",")));
    return RunningServer.start(config, USER, format);
  }

  private Path pool(int server) {
    return directory.resolve("pool-" + server);
  }

  @AfterEach
  void stop() throws IOException {
    for (RunningServer server : servers) {
      server.close();
    }
    remove(directory);
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  private void stop(int server) throws IOException {
    servers.remove(server).close();
  }

  private byte[] write(TakoClient client, String path, int copies) throws IOException {
    byte[] content = new byte[LENGTH];
    random.nextBytes(content);
    CreateOptions options = CreateOptions.DEFAULT.withReplication(copies);
    try (TakoOutputStream out = client.create(path, options)) {
      out.write(content, 0, content.length);
    }
    return content;
  }

  /** For each unit of the content, how many of these servers have it. */
  private List<Integer> copies(byte[] content, int... of) throws IOException {
    Integer[] copies = new Integer[(content.length + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE];
    Arrays.fill(copies, 0);
    for (int server : of) {
      boolean[] has = new boolean[copies.length];
      byte[] unit = new byte[Layout.UNIT_SIZE];
      try (FileChannel data =
          FileChannel.open(pool(server).resolve("data"), StandardOpenOption.READ)) {
        for (long at = 0; at + unit.length <= data.size(); at += unit.length) {
          data.read(ByteBuffer.wrap(unit), at);
          for (int i = 0; i < copies.length; i++) {
            int from = i * unit.length;
            int end = Math.min(content.length, from + unit.length);
            has[i] |= Arrays.equals(unit, 0, end - from, content, from, end);
          }
        }
      }
      for (int i = 0; i < copies.length; i++) {
        copies[i] += has[i] ? 1 : 0;
      }
    }
    return List.of(copies);
  }

  private static boolean all(List<Integer> copies, int wanted) {
    return copies.stream().allMatch(count -> count >= wanted);
  }

  @Test
  void shouldMakeTheCopiesAgainThatAServerLosesWithItsPool() throws Exception {
    try (TakoClient client = Clients.connect(servers.get(0).uri(), "tcp")) {
      byte[] early = write(client, "/early", 3); // before the others have joined, maybe
      Poll.until(
          "what was written early has three copies",
          LIMIT,
          INTERVAL_NS,
          () -> all(copies(early, 0, 1, 2), 3));
      byte[] three = write(client, "/three", 3);
      byte[] two = write(client, "/two", 2);
      assertThat(all(copies(three, 0, 1, 2), 3)).isTrue();
      assertThat(all(copies(two, 0, 1, 2), 2)).isTrue();

      stop(2);
      remove(pool(2));
      Poll.until("two copies on the others", LIMIT, INTERVAL_NS, () -> all(copies(two, 0, 1), 2));
      servers.add(start(2, true));
      Poll.until("three copies again", LIMIT, INTERVAL_NS, () -> all(copies(three, 0, 1, 2), 3));
      Poll.until("three copies again", LIMIT, INTERVAL_NS, () -> all(copies(early, 0, 1, 2), 3));

      stop(1);
      remove(pool(1));
      try (TakoClient other = Clients.connect(servers.get(0).uri(), "tcp")) {
        assertThat(Clients.read(other, "/early")).isEqualTo(early);
        assertThat(Clients.read(other, "/three")).isEqualTo(three);
        assertThat(Clients.read(other, "/two")).isEqualTo(two);
        Poll.until("two copies on the others", LIMIT, INTERVAL_NS, () -> all(copies(two, 0, 2), 2));
      }
      servers.add(start(1, true));
      Poll.until("three copies again", LIMIT, INTERVAL_NS, () -> all(copies(three, 0, 1, 2), 3));
      Clients.checkNothingLeaks(client);
    }
  }
}
