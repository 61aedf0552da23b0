package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.OpenOptions;
import io.takofs.client.OpenOptions.ReadPattern;
import io.takofs.client.ReadRange;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several ranges read at once, and what callers may say of a file before they read or write it. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RangeReadsTest {
  private static final int LENGTH = 20_000_000;

  private final byte[] content = new byte[LENGTH];
  private LocalServer server;

  @BeforeAll
  void write() throws IOException {
    server = new LocalServer("256m");
    new Random(1).nextBytes(content);
    try (TakoClient client = server.connect("tcp")) {
      write(client, "/file", content, CreateOptions.DEFAULT);
    }
  }

  @AfterAll
  void stop() throws IOException {
    server.close();
  }

  private static void write(TakoClient client, String path, byte[] bytes, CreateOptions options)
      throws IOException {
    try (TakoOutputStream out = client.create(path, options)) {
      out.write(bytes);
    }
  }

  private static ReadRange range(long position, int length) {
    ByteBuffer target =
        length % 2 == 0 ? ByteBuffer.allocate(length) : ByteBuffer.allocateDirect(length);
    return new ReadRange(position, target);
  }

  private void check(ReadRange range) {
    int from = (int) range.position();
    int expected = Math.max(0, Math.min(range.target().capacity(), LENGTH - from));
    assertThat(range.target().position()).as("length at %d", from).isEqualTo(expected);
    byte[] bytes = new byte[expected];
    range.target().get(0, bytes);
    assertThat(Arrays.equals(bytes, 0, expected, content, from, from + expected))
        .as("%d bytes at %d", expected, from)
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldReadAnyRanges(String transport) throws IOException {
    Random random = new Random(7);
    try (TakoClient client = server.connect(transport);
        TakoInputStream in = client.open("/file")) {
      for (int round = 0; round < 30; round++) {
        List<ReadRange> ranges = new ArrayList<>();
        for (int i = random.nextInt(200); i >= 0; i--) {
          int length = random.nextInt(1 << random.nextInt(1, 22));
          ranges.add(range(random.nextInt(LENGTH + 10_000), length));
        }
        in.read(ranges);
        ranges.forEach(this::check);
        assertThat(in.getPos()).isZero();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldReadRangesOfAFileThatGrows(String transport) throws IOException {
    try (TakoClient client = server.connect(transport);
        TakoOutputStream out =
            client.create("/growing", CreateOptions.DEFAULT.withOverwrite(true));
        TakoInputStream in = client.open("/growing")) {
      for (int written = 0; written < 400_000; written += 100_000) {
        out.write(content, written, 100_000);
        out.hflush();
        ReadRange last = range(written, 100_000);
        ReadRange behind = range(written + 99_000, 50_000);
        in.read(List.of(behind, last));
        check(last);
        assertThat(behind.target().position()).isEqualTo(1000);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldReadRangesOfASmallFile(String transport) throws IOException {
    try (TakoClient client = server.connect(transport)) {
      write(client, "/small-" + transport, Arrays.copyOf(content, 100), CreateOptions.DEFAULT);
      try (TakoInputStream in = client.open("/small-" + transport)) {
        ReadRange first = range(0, 10);
        ReadRange end = range(90, 20);
        in.read(List.of(end, first));
        check(first);
        assertThat(end.target().position()).isEqualTo(10);
      }
    }
  }

  @Test
  void shouldRefuseNegativePositions() throws IOException {
    try (TakoClient client = server.connect("shm");
        TakoInputStream in = client.open("/file")) {
      assertThatThrownBy(() -> in.read(List.of(range(0, 10), range(-1, 10))))
          .isInstanceOf(TakoException.class)
          .hasMessageContaining("negative position -1");
    }
  }

  @Test
  void shouldAskForManyRangesWithOneDoorbell() throws IOException {
    try (TakoClient client = server.connect("tcp");
        TakoInputStream in = client.open("/file")) {
      in.read(0, ByteBuffer.allocate(1)); // connects
      List<ReadRange> ranges = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        ranges.add(range(i * 300_000L, 4000));
      }
      long before = doorbells(client);
      in.read(ranges);
      assertThat(doorbells(client) - before).isEqualTo(1);
      ranges.forEach(this::check);
    }
  }

  private static long doorbells(TakoClient client) {
    return client.transportCounters().get("tcp").get("doorbells");
  }

  @Test
  void shouldReadRangesAgainWhenTheServerWasRestarted() throws IOException {
    try (LocalServer own = new LocalServer("64m");
        TakoClient client = own.connect("tcp")) {
      write(client, "/file", Arrays.copyOf(content, 5_000_000), CreateOptions.DEFAULT);
      try (TakoInputStream in = client.open("/file")) {
        for (int round = 0; round < 3; round++) {
          List<ReadRange> ranges = new ArrayList<>();
          for (int i = 0; i < 20; i++) {
            ranges.add(range(i * 200_000L, 150_000));
          }
          in.read(ranges);
          ranges.forEach(this::check);
          own.restart();
        }
      }
    }
  }

  /** The call that opens a file brings what is needed to read it; so nothing could save another. */
  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldOpenAndReadAWholeFileWithOneCall(String transport) throws IOException {
    try (TakoClient client = server.connect(transport)) {
      for (int start : new int[] {0, LENGTH / 2}) {
        OpenOptions options =
            OpenOptions.DEFAULT.withPattern(ReadPattern.SEQUENTIAL).withStart(start);
        long before = calls(client, "get_extents") + calls(client, "get_file");
        try (TakoInputStream in = client.open("/file", options)) {
          in.seek(start);
          byte[] read = in.readNBytes(LENGTH - start);
          assertThat(Arrays.equals(read, Arrays.copyOfRange(content, start, LENGTH))).isTrue();
        }
        assertThat(calls(client, "get_extents") + calls(client, "get_file") - before).isEqualTo(1);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void shouldWriteWithoutAskingForSpaceWhenTheLengthWasExpected(String transport) throws Exception {
    String directory = "/for-" + transport;
    try (TakoClient client = server.connect(transport)) {
      client.mkdirs(directory);
      byte[] bytes = Arrays.copyOf(content, 8_000_000);
      CreateOptions expected = CreateOptions.DEFAULT.withExpectedLength(bytes.length);
      long before = calls(client, "grant_extents");
      write(client, directory + "/unexpected", bytes, CreateOptions.DEFAULT);
      long unexpected = calls(client, "grant_extents");
      write(client, directory + "/expected", bytes, expected);
      assertThat(calls(client, "grant_extents") - unexpected).isZero();
      assertThat(unexpected - before).isPositive();
      assertThat(Arrays.equals(Clients.read(client, directory + "/expected"), bytes)).isTrue();
      long used = usedAtRest(client);
      write(client, directory + "/less", new byte[3000], expected);
      assertThat(usedAtRest(client) - used).isBetween(1L, 1L << 20);
    }
  }

  /** The bytes that are used once nothing rests any more that was deleted or given back. */
  private static long usedAtRest(TakoClient client) throws Exception {
    Poll.until(
        "nothing rests",
        Duration.ofMinutes(1),
        () ->
            client.serverStatus().getExtentsList().stream()
                .filter(each -> each.getState().equals("quarantine"))
                .allMatch(each -> each.getBytes() == 0));
    return client.usage().used();
  }

  private static long calls(TakoClient client, String operation) throws IOException {
    return client.serverStatus().getCountersMap().getOrDefault("calls." + operation, 0L);
  }
}
