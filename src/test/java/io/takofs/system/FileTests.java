package io.takofs.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.ExtentStatus;
import io.takofs.proto.Status;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of files over any transport, against a real data server in this process. */
abstract class FileTests extends FileFixture {
  /** Calls that come by time, that connect to a data zone, and that ask for these numbers. */
  private static final Set<String> NOT_OF_FILES =
      Set.of("calls.renew_leases", "calls.get_arenas", "calls.get_server_status");

  FileTests(String transport) {
    super(transport);
  }

  FileTests(String transport, int servers) {
    super(transport, servers);
  }

  @Test
  void shouldSayHowTheServerIsReached() throws IOException {
    assertThat(client.transportVerdict()).contains(transport);
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0, 1, 2047, 2048, 2049, 4095, 4096, 4097, 65535, 65536, 65537, 1048575, 1048576, 1048577,
        20000000
      })
  void shouldReadWhatWasWritten(int length) throws IOException {
    byte[] expected = random(length, length);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(expected);
    }
    assertThat(client.getStatus(path).length()).isEqualTo(length);
    assertEqual(readAll(), expected);
    try (TakoInputStream in = client.open(path)) {
      byte[] small = new byte[length];
      Random random = new Random(length);
      for (int from = 0; from < length; ) {
        int count = in.read(small, from, Math.min(length - from, 1 + random.nextInt(100000)));
        assertThat(count).isGreaterThan(0);
        from += count;
      }
      assertEqual(small, expected);
      assertThat(in.read()).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2048, 2049, 4096, 70000, 1048576, 1300000})
  void shouldAppend(int length) throws IOException {
    byte[] expected = random(length + 1300000, length);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(expected, 0, length);
    }
    int from = length;
    for (int count : new int[] {0, 1, 99, 4000, 1295900}) {
      try (TakoOutputStream out = client.append(path)) {
        assertThat(out.getPos()).isEqualTo(from);
        out.write(expected, from, count);
        from += count;
      }
      assertEqual(readAll(), Arrays.copyOf(expected, from));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2048, 4096, 4097, 1048575, 1048576, 1048577, 1500000})
  void shouldTruncateAndAppendAgain(int length) throws IOException {
    byte[] expected = random(1500000, length);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(expected);
    }
    client.truncate(path, length);
    assertEqual(readAll(), Arrays.copyOf(expected, length));
    byte[] more = random(100000, 77);
    try (TakoOutputStream out = client.append(path)) {
      out.write(more);
    }
    byte[] both = Arrays.copyOf(expected, length + more.length);
    System.arraycopy(more, 0, both, length, more.length);
    assertEqual(readAll(), both);
  }

  @Test
  void shouldAgreeWithAnArrayWhateverIsDone() throws IOException {
    for (long seed = 1; seed <= 25; seed++) {
      new RandomFile(client, path, seed, 3 << 20).run(80);
    }
  }

  @Test
  void shouldServeManyThreadsOfTwoClients() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (TakoClient other = connect()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        TakoClient mine = i % 2 == 0 ? client : other;
        long seed = 1000L + i;
        running.add(
            threads.submit(
                () -> {
                  for (int round = 0; round < 4; round++) {
                    new RandomFile(mine, path + "/" + seed, seed * 10 + round, 1 << 20).run(50);
                  }
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void shouldShowEveryFlushToAnotherClient() throws IOException {
    byte[] expected = random(300000, 9);
    try (TakoClient other = connect();
        TakoOutputStream out = client.create(path, CreateOptions.DEFAULT);
        TakoInputStream in = other.open(path)) {
      Random random = new Random(9);
      for (int from = 0; from < expected.length; ) {
        int count = Math.min(expected.length - from, 1 + random.nextInt(5000));
        out.write(expected, from, count);
        out.hflush();
        byte[] seen = new byte[count];
        assertThat(in.read(seen)).isEqualTo(count);
        assertEqual(seen, Arrays.copyOfRange(expected, from, from + count));
        assertThat(in.read(seen)).isEqualTo(-1);
        from += count;
      }
    }
  }

  /** The file is closed after each number of flushes, with its end inline or in an extent. */
  @Test
  void shouldKeepEveryFlushOfAFewBytes() throws IOException {
    byte[] expected = random(10_000, 31);
    for (int flushes = 15; flushes < 55; flushes++) {
      int length = 0;
      try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
        for (; length < flushes * 128; length += 128) {
          out.write(expected, length, 128);
          out.hflush();
          assertThat(client.getStatus(path).length()).isEqualTo(length + 128);
        }
        assertEqual(readAll(), Arrays.copyOf(expected, length));
      }
      assertEqual(readAll(), Arrays.copyOf(expected, length));
      try (TakoOutputStream out = client.append(path)) {
        for (int end = length + 2000; length < end; length += 100) {
          out.write(expected, length, 100);
          out.hflush();
        }
        out.write(expected, length, 700);
        length += 700;
      }
      assertEqual(readAll(), Arrays.copyOf(expected, length));
      client.delete(path, false);
    }
  }

  @Test
  void shouldReadWhileAnotherClientWrites() throws Exception {
    int length = 8 << 20;
    byte[] expected = random(length, 21);
    ExecutorService writer = Executors.newSingleThreadExecutor();
    try (TakoClient other = connect();
        TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      Future<?> writing =
          writer.submit(
              () -> {
                Random random = new Random(21);
                for (int from = 0; from < length; ) {
                  int count = Math.min(length - from, 1 + random.nextInt(50000));
                  out.write(expected, from, count);
                  if (random.nextInt(3) == 0) {
                    out.hflush();
                  }
                  from += count;
                }
                out.hflush();
                return null;
              });
      byte[] seen = new byte[length];
      int from = 0;
      try (TakoInputStream in = other.open(path)) {
        while (from < length) {
          boolean last = writing.isDone();
          int count = in.read(seen, from, Math.min(length - from, 65536));
          if (count < 0 && last) {
            writing.get();
          }
          assertThat(count < 0 && last).describedAs("nothing to come at %d", from).isFalse();
          from += Math.max(count, 0);
        }
      }
      writing.get();
      assertEqual(seen, expected);
    } finally {
      writer.shutdownNow();
    }
  }

  @Test
  void shouldReadAtPositionsFromManyThreads() throws Exception {
    byte[] expected = random(5000000, 4);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(expected);
    }
    ExecutorService threads = Executors.newFixedThreadPool(6);
    try (TakoInputStream in = client.open(path)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        Random random = new Random(i);
        running.add(
            threads.submit(
                () -> {
                  for (int round = 0; round < 300; round++) {
                    int position = random.nextInt(expected.length);
                    byte[] target = new byte[1 + random.nextInt(20000)];
                    int count = in.read(position, target, 0, target.length);
                    assertThat(count)
                        .isEqualTo(Math.min(target.length, expected.length - position));
                    assertEqual(
                        Arrays.copyOf(target, count),
                        Arrays.copyOfRange(expected, position, position + count));
                  }
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
      assertThat(in.getPos()).isEqualTo(0);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void shouldSeekReadAndRefuseWhatIsOutside() throws IOException {
    byte[] expected = random(200000, 6);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(expected);
    }
    try (TakoInputStream in = client.open(path)) {
      in.seek(123456);
      assertThat(in.read()).isEqualTo(expected[123456] & 0xff);
      assertThat(in.available()).isEqualTo(200000 - 123457);
      assertThat(in.skip(10)).isEqualTo(10);
      assertThat(in.getPos()).isEqualTo(123467);
      in.unbuffer();
      ByteBuffer direct = ByteBuffer.allocateDirect(1000);
      assertThat(in.read(direct)).isEqualTo(1000);
      assertThat(direct.get(5)).isEqualTo(expected[123472]);
      in.seek(200000);
      assertThat(in.read()).isEqualTo(-1);
      assertThat(catchThrowable(() -> in.seek(200001))).isInstanceOf(EOFException.class);
      assertThat(catchThrowable(() -> in.seek(-1))).isInstanceOf(EOFException.class);
      assertThat(in.read(300000, new byte[1], 0, 1)).isEqualTo(-1);
      assertThat(catchThrowable(() -> in.readFully(199990, new byte[11], 0, 11)))
          .isInstanceOf(EOFException.class);
      assertStatus(() -> in.read(-1, new byte[1], 0, 1), Status.INVALID_ARGUMENT);
    }
  }

  @Test
  void shouldRefuseClosedStreams() throws IOException {
    TakoOutputStream out = client.create(path, CreateOptions.DEFAULT);
    out.close();
    out.close();
    assertStatus(() -> out.write(1), Status.INVALID_ARGUMENT);
    assertStatus(out::hflush, Status.INVALID_ARGUMENT);
    TakoInputStream in = client.open(path);
    in.close();
    in.close();
    assertStatus(in::read, Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldRefuseASecondWriterAndTheFirstAfterRecovery() throws IOException {
    try (TakoClient other = connect()) {
      TakoOutputStream out = client.create(path, CreateOptions.DEFAULT);
      out.write(random(10000, 1));
      out.hflush();
      assertStatus(() -> other.append(path), Status.LEASE_HELD);
      other.recoverLease(path);
      try (TakoOutputStream second = other.append(path)) {
        second.write(random(10000, 2));
      }
      out.write(random(10000, 3));
      assertStatus(out::hflush, Status.LEASE_LOST);
      assertStatus(out::close, Status.LEASE_LOST);
      byte[] expected = Arrays.copyOf(random(10000, 1), 20000);
      System.arraycopy(random(10000, 2), 0, expected, 10000, 10000);
      assertEqual(readAll(), expected);
    }
  }

  @Test
  void shouldNeverReturnOtherBytesOfADeletedFile() throws IOException {
    byte[] expected = random(3 << 20, 11);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(expected);
    }
    try (TakoInputStream in = client.open(path)) {
      assertThat(in.read()).isEqualTo(expected[0] & 0xff);
      client.delete(path, false);
      for (int i = 0; i < 60; i++) {
        try (TakoOutputStream out = client.create(path + "-" + i, CreateOptions.DEFAULT)) {
          out.write(random(3 << 20, 100 + i));
        }
        byte[] target = new byte[10000];
        int position = i * 50000;
        try {
          int count = in.read(position, target, 0, target.length);
          assertEqual(
              Arrays.copyOf(target, Math.max(count, 0)),
              Arrays.copyOfRange(expected, position, position + Math.max(count, 0)));
        } catch (TakoException e) {
          assertThat(e.status()).isEqualTo(Status.NOT_FOUND);
        }
        client.delete(path + "-" + i, false);
      }
    }
  }

  @Test
  void shouldKeepManyCommitsOfALongFile() throws IOException {
    byte[] piece = random(1 << 20, 3);
    int pieces = 150;
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      for (int i = 0; i < pieces; i++) {
        piece[0] = (byte) i;
        out.write(piece);
      }
    }
    assertThat(client.getStatus(path).length()).isEqualTo((long) pieces << 20);
    try (TakoInputStream in = client.open(path)) {
      byte[] read = new byte[1 << 20];
      for (int i = 0; i < pieces; i++) {
        piece[0] = (byte) i;
        assertThat(in.readNBytes(read, 0, read.length)).isEqualTo(read.length);
        assertEqual(read, piece);
      }
      assertThat(in.read()).isEqualTo(-1);
    }
  }

  @Test
  void shouldRunTheExample() throws IOException {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    Example.run(server.uri(), LocalServer.USER, new PrintStream(printed, true, UTF_8));
    assertThat(printed.toString(UTF_8))
        .contains("reached over shm")
        .contains("a reader sees: started")
        .contains("at 8: stopped")
        .contains("/example/archive/today: 30 bytes of " + LocalServer.USER);
  }

  @Test
  void shouldCarryOnAcrossRestartsOfTheServer() throws Exception {
    byte[] expected = random(24 << 20, 31);
    ExecutorService writer = Executors.newSingleThreadExecutor();
    try (LocalServer restarted = new LocalServer("64m");
        TakoClient mine = restarted.connect(transport)) {
      Future<?> writing =
          writer.submit(
              () -> {
                try (TakoOutputStream out = mine.create(path, CreateOptions.DEFAULT)) {
                  Random random = new Random(31);
                  for (int from = 0; from < expected.length; ) {
                    int count = Math.min(expected.length - from, 1 + random.nextInt(100000));
                    out.write(expected, from, count);
                    if (random.nextInt(5) == 0) {
                      out.hflush();
                    }
                    from += count;
                  }
                }
                return null;
              });
      for (int i = 0; i < 3; i++) {
        restarted.restart();
        mine.getStatus("/");
      }
      writing.get();
      try (TakoInputStream in = mine.open(path)) {
        byte[] first = in.readNBytes(expected.length / 2);
        restarted.restart();
        byte[] second = in.readAllBytes();
        assertEqual(first, Arrays.copyOf(expected, first.length));
        assertEqual(second, Arrays.copyOfRange(expected, first.length, expected.length));
      }
    } finally {
      writer.shutdownNow();
    }
  }

  @Test
  void shouldCallTheServerNoMoreOftenForMoreBytes() throws Exception {
    byte[] piece = random(1 << 20, 3);
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      for (int i = 0; i < 96; i++) { // after that the group has slabs enough, and waits for none
        out.write(piece);
      }
    }
    client.delete(path, false);
    // A full pool grants less at once, and what was deleted rests for a while.
    Poll.until("all space is free", Duration.ofMinutes(1), () -> takenBytes() == 0);
    Map<String, Long> before = calls();
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      for (int i = 0; i < 64; i++) {
        out.write(piece);
      }
    }
    Map<String, Long> written = calls();
    // Grants of 1, 1, 2, 4 and then 8 MiB.
    assertThat(callsSince(before, written))
        .isEqualTo(
            Map.of("calls.create", 1L, "calls.grant_extents", 11L, "calls.commit_extents", 1L));
    try (TakoInputStream in = client.open(path)) {
      for (int i = 0; i < 64; i++) {
        assertEqual(in.readNBytes(1 << 20), piece);
      }
    }
    assertThat(callsSince(written, calls())).isEqualTo(Map.of("calls.get_extents", 1L));
  }

  /** Bytes of extents that are granted, committed or deleted lately. */
  private long takenBytes() throws IOException {
    return client.serverStatus().getExtentsList().stream()
        .filter(each -> !each.getState().equals("free"))
        .mapToLong(ExtentStatus::getBytes)
        .sum();
  }

  private static Map<String, Long> callsSince(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Long> calls = new TreeMap<>(after);
    before.forEach((kind, count) -> calls.merge(kind, -count, Long::sum));
    calls.values().removeIf(count -> count == 0);
    return calls;
  }

  /** Calls so far that open, write, read or close files, by kind. */
  private Map<String, Long> calls() throws IOException {
    Map<String, Long> calls = new TreeMap<>(client.serverStatus().getCountersMap());
    calls.keySet().removeIf(name -> !name.startsWith("calls.") || NOT_OF_FILES.contains(name));
    return calls;
  }
}
