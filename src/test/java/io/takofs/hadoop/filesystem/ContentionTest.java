package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LeaseRecoverable;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that use the same files at once, each through a file system of its own: as in HDFS. */
@Timeout(120)
class ContentionTest {
  private static final Path HOME = new Path("/contention-test");
  private static final Path FILE = new Path(HOME, "directory/file");

  /** Kept in the metadata. */
  private static final int SMALL = 700;

  /** In several extents. */
  private static final int LARGE = 3_000_000;

  private final Configuration conf = new Configuration();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<FileSystem> clients = new ArrayList<>();
  private FileSystem first;
  private FileSystem second;
  private FileSystem third;

  @BeforeEach
  void connect() throws IOException {
    TestServer.configure(conf);
    for (int i = 0; i < 3; i++) {
      clients.add(FileSystem.newInstance(conf));
    }
    first = clients.get(0);
    second = clients.get(1);
    third = clients.get(2);
    first.delete(HOME, true);
    first.mkdirs(FILE.getParent());
  }

  @AfterEach
  void disconnect() throws Exception {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    for (FileSystem client : clients) {
      client.close();
    }
  }

  private static byte[] random(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static byte[] joined(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }

  private static byte[] read(FileSystem fs, Path path) throws IOException {
    try (FSDataInputStream in = fs.open(path)) {
      return in.readAllBytes();
    }
  }

  private static void write(FileSystem fs, Path path, byte[] content) throws IOException {
    try (FSDataOutputStream out = fs.create(path)) {
      out.write(content);
    }
  }

  private static boolean isClosed(FileSystem fs, Path path) throws IOException {
    return ((LeaseRecoverable) fs).isFileClosed(path);
  }

  /** Writes until the writer notices: with its next flush, or close. */
  private static void assertLost(FSDataOutputStream out) {
    assertThatThrownBy(
            () -> {
              out.write(1);
              out.hflush();
            })
        .isInstanceOf(IOException.class);
    assertThatThrownBy(out::close).isInstanceOf(IOException.class);
  }

  // ---- two writers

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE})
  void shouldLetNobodyElseWriteAnOpenFile(int length) throws IOException {
    byte[] content = random(length, 1);
    try (FSDataOutputStream out = first.create(FILE)) {
      out.write(content, 0, length / 2);
      out.hflush();
      assertThatThrownBy(() -> second.create(FILE, false)).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> second.append(FILE)).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> first.append(FILE)).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> second.truncate(FILE, 1)).isInstanceOf(IOException.class);
      out.write(content, length / 2, length - length / 2);
    }
    assertThat(read(second, FILE)).isEqualTo(content);
  }

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE})
  void shouldTakeAFileFromItsWriterByOverwritingIt(int length) throws IOException {
    byte[] content = random(length, 2);
    FSDataOutputStream lost = first.create(FILE);
    lost.write(random(length, 1));
    lost.hflush();
    try (FSDataOutputStream out = second.create(FILE, true)) {
      out.write(content, 0, 10);
      out.hflush();
      assertLost(lost);
      out.write(content, 10, length - 10);
    }
    assertThat(read(third, FILE)).isEqualTo(content);
  }

  @Test
  void shouldGiveAFileToOneOfManyAppenders() throws Exception {
    write(first, FILE, new byte[0]);
    for (int round = 1; round <= 20; round++) {
      byte mark = (byte) round;
      CyclicBarrier start = new CyclicBarrier(clients.size());
      CyclicBarrier tried = new CyclicBarrier(clients.size());
      List<Future<Boolean>> wins = new ArrayList<>();
      for (FileSystem client : clients) {
        Callable<Boolean> append =
            () -> {
              start.await();
              FSDataOutputStream out;
              try {
                out = client.append(FILE);
              } catch (IOException e) {
                tried.await();
                return false;
              }
              tried.await();
              out.write(mark);
              out.close();
              return true;
            };
        wins.add(threads.submit(append));
      }
      int won = 0;
      for (Future<Boolean> win : wins) {
        won += win.get() ? 1 : 0;
      }
      assertThat(won).isEqualTo(1);
      byte[] content = read(first, FILE);
      assertThat(content.length).isEqualTo(round);
      assertThat(content[round - 1]).isEqualTo(mark);
    }
  }

  // ---- appenders against readers

  @Test
  void shouldShowReadersWhatWasFlushedAndNothingElse() throws Exception {
    byte[] content = random(400_000, 3);
    write(first, FILE, Arrays.copyOf(content, 100));
    List<Future<Integer>> readers = new ArrayList<>();
    CountDownLatch reading = new CountDownLatch(2);
    for (FileSystem client : List.of(second, third)) {
      readers.add(threads.submit(() -> follow(client, content, reading)));
    }
    assertThat(reading.await(60, TimeUnit.SECONDS)).isTrue();
    Random random = new Random(4);
    int written = 100;
    while (written < content.length) {
      try (FSDataOutputStream out = first.append(FILE)) {
        for (int flush = 0; flush < 5 && written < content.length; flush++) {
          int count = Math.min(content.length - written, 1 + random.nextInt(9000));
          out.write(content, written, count);
          out.hflush();
          written += count;
          assertThat(second.getFileStatus(FILE).getLen()).isEqualTo(written);
        }
      }
    }
    for (Future<Integer> reader : readers) {
      assertThat(reader.get(60, TimeUnit.SECONDS)).isGreaterThan(1);
    }
  }

  /**
   * Opens and reads the file until it is whole; returns how often.
   *
   * @param reading counted down once, after the first time
   */
  private static int follow(FileSystem fs, byte[] content, CountDownLatch reading)
      throws IOException {
    int last = 0;
    for (int times = 1; ; times++) {
      byte[] seen = read(fs, FILE);
      if (times == 1) {
        reading.countDown();
      }
      assertThat(seen.length).isGreaterThanOrEqualTo(last);
      assertThat(Arrays.equals(seen, 0, seen.length, content, 0, seen.length)).isTrue();
      last = seen.length;
      if (last == content.length) {
        return times;
      }
    }
  }

  // ---- names that change under open files

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE})
  void shouldGoOnWritingAFileThatIsRenamed(int length) throws IOException {
    byte[] content = random(length, 5);
    Path renamed = new Path(HOME, "elsewhere/renamed");
    try (FSDataOutputStream out = first.create(FILE)) {
      out.write(content, 0, length / 2);
      out.hflush();
      assertThat(second.rename(FILE, new Path(FILE.getParent(), "renamed"))).isTrue();
      out.write(content, length / 2, length / 4);
      out.hflush();
      assertThat(second.rename(FILE.getParent(), renamed.getParent())).isTrue();
      out.write(content, length / 2 + length / 4, length - length / 2 - length / 4);
      assertThat(isClosed(third, renamed)).isFalse();
    }
    assertThat(read(third, renamed)).isEqualTo(content);
    assertThat(isClosed(third, renamed)).isTrue();
    assertThat(third.exists(FILE)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE})
  void shouldGoOnReadingAFileThatIsRenamed(int length) throws IOException {
    byte[] content = random(length, 6);
    write(first, FILE, content);
    try (FSDataInputStream in = second.open(FILE)) {
      byte[] head = new byte[100];
      in.readFully(head);
      assertThat(first.rename(FILE, new Path(HOME, "renamed"))).isTrue();
      write(first, FILE, random(length, 7));
      assertThat(joined(head, in.readAllBytes())).isEqualTo(content);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE})
  void shouldReadRightBytesOrNoneOfADeletedFile(int length) throws IOException {
    byte[] content = random(length, 8);
    write(first, FILE, content);
    try (FSDataInputStream in = second.open(FILE)) {
      byte[] head = new byte[100];
      in.readFully(head);
      assertThat(first.delete(FILE, false)).isTrue();
      // Another file may have its memory by now.
      write(first, FILE, random(length, 9));
      byte[] tail = new byte[length - 100];
      try {
        in.readFully(tail);
        assertThat(joined(head, tail)).isEqualTo(content);
      } catch (IOException e) {
        assertThat(length).as("a small file is read at once: %s", e).isEqualTo(LARGE);
      }
    }
    assertThat(read(third, FILE)).isEqualTo(random(length, 9));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldEndAWriterWhoseFileIsDeleted(boolean withDirectory) throws IOException {
    FSDataOutputStream out = first.create(FILE);
    out.write(random(LARGE, 10));
    out.hflush();
    assertThat(second.delete(withDirectory ? FILE.getParent() : FILE, true)).isTrue();
    assertThat(third.exists(FILE)).isFalse();
    if (withDirectory) {
      assertThatThrownBy(() -> writeUntilLost(out)).isInstanceOf(IOException.class);
    }
    assertLost(out);
    assertThat(third.exists(FILE)).isFalse();
  }

  /** Files below a deleted directory go soon, and their writers learn of it then. */
  private static void writeUntilLost(FSDataOutputStream out) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (System.nanoTime() - deadline < 0) {
      out.write(1);
      out.hflush();
    }
  }

  // ---- recovery by a third client

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE})
  void shouldCloseAFileAtWhatWasFlushedWhenItsLeaseIsRecovered(int length) throws IOException {
    byte[] flushed = random(length, 11);
    byte[] more = random(length, 12);
    FSDataOutputStream out = first.create(FILE);
    out.write(flushed);
    out.hflush();
    out.write(random(length, 13));
    assertThat(isClosed(second, FILE)).isFalse();
    assertThat(((LeaseRecoverable) third).recoverLease(FILE)).isTrue();
    assertThat(isClosed(second, FILE)).isTrue();
    assertThat(read(second, FILE)).isEqualTo(flushed);
    assertLost(out);
    try (FSDataOutputStream append = third.append(FILE)) {
      append.write(more);
    }
    assertThat(read(second, FILE)).isEqualTo(joined(flushed, more));
    assertThat(((LeaseRecoverable) third).recoverLease(FILE)).isTrue();
    assertThatThrownBy(() -> ((LeaseRecoverable) third).recoverLease(new Path(HOME, "missing")))
        .isInstanceOf(FileNotFoundException.class);
  }
}
