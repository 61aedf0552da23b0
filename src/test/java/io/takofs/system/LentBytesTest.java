package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bytes that are lent where they lie stay what they are, whatever happens to their file. */
@Timeout(180)
class LentBytesTest {
  private static final int LENGTH = 6_000_000;
  private static final int GRANULE = Layout.GRANULE_SIZE;
  private static final CreateOptions OVERWRITE = CreateOptions.DEFAULT.withOverwrite(true);

  private final byte[] content = new byte[LENGTH];
  private LocalServer server;
  private TakoClient client;
  private TakoClient other;

  @BeforeEach
  void start() throws IOException {
    new Random(3).nextBytes(content);
    server = new LocalServer("64m");
    client = server.connect("shm");
    other = server.connect("tcp");
    write(other, "/file", content);
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    other.close();
    server.close();
  }

  private static void write(TakoClient client, String path, byte[] bytes) throws IOException {
    try (TakoOutputStream out = client.create(path, OVERWRITE)) {
      out.write(bytes);
    }
  }

  /** All of a file, lent. */
  private static List<ByteBuffer> borrowAll(TakoInputStream in) throws IOException {
    List<ByteBuffer> lent = new ArrayList<>();
    for (ByteBuffer next = in.borrow(700_000, true);
        next != null;
        next = in.borrow(700_000, true)) {
      lent.add(next);
    }
    return lent;
  }

  private void check(List<ByteBuffer> lent) {
    int at = 0;
    for (ByteBuffer each : lent) {
      byte[] bytes = new byte[each.remaining()];
      each.get(each.position(), bytes);
      assertThat(Arrays.equals(bytes, 0, bytes.length, content, at, at + bytes.length))
          .as("%d bytes at %d", bytes.length, at)
          .isTrue();
      at += bytes.length;
    }
    assertThat(at).isEqualTo(LENGTH);
  }

  /** Writes other bytes into all the space that the server gives away. */
  private void fillThePool() throws IOException {
    byte[] others = new byte[1 << 20];
    Arrays.fill(others, (byte) 0x5a);
    Throwable failure = null;
    for (int i = 0; failure == null; i++) {
      String path = "/filler-" + i;
      failure = catchThrowable(() -> write(other, path, others));
    }
    assertThat(((TakoException) failure).status()).isEqualTo(Status.NO_SPACE);
  }

  private void emptyThePool() throws Exception {
    Clients.checkNothingLeaks(other);
  }

  @Test
  void shouldLendWithoutACopyAndWithFewCalls() throws Exception {
    try (TakoInputStream in = client.open("/file")) {
      long before = calls();
      List<ByteBuffer> lent = borrowAll(in);
      assertThat(calls() - before).isEqualTo(1);
      check(lent);
      assertThat(lent).allMatch(ByteBuffer::isDirect).allMatch(ByteBuffer::isReadOnly);
      assertThat(in.getPos()).isEqualTo(LENGTH);
      assertThat(in.read()).isEqualTo(-1);
      lent.forEach(each -> assertThat(in.giveBack(each)).isTrue());
      assertThat(in.giveBack(lent.get(0))).as("given back before").isFalse();
    }
    emptyThePool();
  }

  private long calls() throws IOException {
    return other.serverStatus().getCountersMap().getOrDefault("calls.get_extents", 0L);
  }

  @Test
  void shouldKeepBytesOfADeletedFileUntilTheyAreGivenBack() throws Exception {
    TakoInputStream in = client.open("/file");
    List<ByteBuffer> lent = borrowAll(in);
    in.close();
    other.delete("/file", false);
    fillThePool();
    check(lent);
    lent.forEach(in::giveBack);
    emptyThePool();
  }

  @Test
  void shouldKeepBytesOfAFileThatIsCutAndReplaced() throws Exception {
    try (TakoInputStream in = client.open("/file")) {
      List<ByteBuffer> lent = borrowAll(in);
      other.truncate("/file", 100_000);
      try (TakoOutputStream out = other.append("/file")) {
        out.write(new byte[1_000_000]);
      }
      check(lent);
      write(other, "/file", new byte[3_000_000]);
      fillThePool();
      check(lent);
      lent.forEach(in::giveBack);
    }
    emptyThePool();
  }

  @Test
  void shouldKeepBytesWhenTheClientIsClosedAndTheServerStartsAgain() throws Exception {
    TakoInputStream in = client.open("/file");
    List<ByteBuffer> lent = borrowAll(in);
    client.close();
    server.restart();
    check(lent);
    other.delete("/file", false);
    server.restart();
    fillThePool();
    check(lent);
    lent.forEach(in::giveBack);
    emptyThePool();
  }

  /** One before the server starts again, the other after it: what both hold is the same. */
  @Test
  void shouldKeepForOneReaderWhatAnotherGivesBack() throws Exception {
    try (TakoClient second = server.connect("shm");
        TakoInputStream late = second.open("/file")) {
      TakoInputStream early = client.open("/file");
      List<ByteBuffer> lentEarly = borrowAll(early);
      server.restart();
      List<ByteBuffer> lentLate = borrowAll(late);
      lentEarly.forEach(early::giveBack);
      early.close();
      client.close();
      other.delete("/file", false);
      fillThePool();
      check(lentLate);
      lentLate.forEach(late::giveBack);
    }
    emptyThePool();
  }

  @Test
  void shouldHoldNothingForAReaderThatIsClosed() throws Exception {
    try (TakoInputStream in = client.open("/file")) {
      ByteBuffer first = in.borrow(100, true);
      assertThat(in.giveBack(first)).isTrue();
    }
    emptyThePool();
  }

  @Test
  void shouldLendNothingOfAFileThatIsGone() throws Exception {
    try (TakoInputStream in = client.open("/file")) {
      other.delete("/file", false);
      assertThat(in.borrow(100, true)).isNull();
      assertThat(in.getPos()).isZero();
    }
    emptyThePool();
  }

  @Test
  void shouldLendNothingOverTcpNorOfSmallFiles() throws Exception {
    write(other, "/small", new byte[100]);
    try (TakoInputStream tcp = other.open("/file");
        TakoInputStream small = client.open("/small")) {
      assertThat(tcp.borrow(100, true)).isNull();
      assertThat(small.borrow(100, true)).isNull();
      assertThat(small.read(new byte[200])).isEqualTo(100);
      assertThat(small.borrow(100, true)).isNull();
    }
  }

  @Test
  void shouldLendWhatIsFlushedLater() throws Exception {
    int piece = 25 * GRANULE;
    try (TakoOutputStream out = other.create("/growing", OVERWRITE);
        TakoInputStream in = client.open("/growing")) {
      for (int from = 0; from < 5 * piece; from += piece) {
        assertThat(in.borrow(piece, true)).isNull();
        out.write(content, from, piece);
        out.hflush();
        for (int got = 0; got < piece; ) {
          ByteBuffer lent = in.borrow(piece, true);
          byte[] bytes = new byte[lent.remaining()];
          lent.get(lent.position(), bytes);
          assertThat(bytes)
              .isEqualTo(Arrays.copyOfRange(content, from + got, from + got + bytes.length));
          got += bytes.length;
          in.giveBack(lent);
        }
      }
    }
  }

  /** The tail of a small flush is in no extent until there is more of it. */
  @Test
  void shouldNotLendWhatIsInTheMetadata() throws Exception {
    int piece = 100;
    try (TakoOutputStream out = other.create("/growing", OVERWRITE);
        TakoInputStream in = client.open("/growing")) {
      out.write(content, 0, 3 * GRANULE);
      out.hflush();
      in.giveBack(in.borrow(3 * GRANULE, true));
      out.write(content, 3 * GRANULE, piece);
      out.hflush();
      assertThat(in.borrow(piece, true)).isNull();
      byte[] read = new byte[piece];
      assertThat(in.read(read)).isEqualTo(piece);
      assertThat(read).isEqualTo(Arrays.copyOfRange(content, 3 * GRANULE, 3 * GRANULE + piece));
      out.write(content, 3 * GRANULE + piece, GRANULE);
      out.hflush();
      ByteBuffer lent = in.borrow(GRANULE - piece, true);
      assertThat(lent.get(lent.position())).isEqualTo(content[3 * GRANULE + piece]);
      in.giveBack(lent);
    }
  }

  @Test
  void shouldNotLendDamagedBytes() throws Exception {
    byte[] piece = Arrays.copyOfRange(content, 0, 64);
    try (TakoInputStream in = client.open("/file");
        RandomAccessFile data = new RandomAccessFile(server.data().toFile(), "rw")) {
      byte[] all = new byte[Math.toIntExact(data.length())];
      data.readFully(all);
      int at = indexOf(all, piece);
      data.seek(at + 5000);
      data.write(content[5000] ^ 1);
      ByteBuffer good = in.borrow(4096, true);
      assertThat(good).isNotNull();
      in.giveBack(good);
      assertThat(in.borrow(4096, true)).isNull();
      Throwable failure = catchThrowable(() -> in.read(new byte[4096]));
      assertThat(((TakoException) failure).status()).isEqualTo(Status.CORRUPT);
      ByteBuffer unchecked = in.borrow(4096, false);
      assertThat(unchecked.get(5000 - 4096)).isEqualTo((byte) (content[5000] ^ 1));
      in.giveBack(unchecked);
    }
  }

  private static int indexOf(byte[] bytes, byte[] piece) {
    for (int at = 0; at < bytes.length; at += 65_536) {
      if (Arrays.equals(bytes, at, at + piece.length, piece, 0, piece.length)) {
        return at;
      }
    }
    throw new AssertionError("the file's first bytes are nowhere in the data zone");
  }

  /** The limit is what one process may keep from others. */
  @Test
  void shouldCopyWhenVeryMuchIsLent() throws Exception {
    int max = 1024; // extents that a process holds
    byte[] small = Arrays.copyOf(content, 5000);
    try (LocalServer large = new LocalServer("256m");
        TakoClient local = large.connect("shm")) {
      List<TakoInputStream> streams = new ArrayList<>();
      List<ByteBuffer> lent = new ArrayList<>();
      for (int i = 0; i <= max; i++) {
        write(local, "/file-" + i, small);
        streams.add(local.open("/file-" + i));
        lent.add(streams.get(i).borrow(5000, true));
      }
      assertThat(lent.subList(0, max)).doesNotContainNull();
      assertThat(lent.get(max)).isNull();
      assertThat(streams.get(max).readNBytes(5000)).isEqualTo(small);
      for (int i = 0; i < max; i++) {
        streams.get(i).giveBack(lent.get(i));
        streams.get(i).close();
      }
      streams.get(max).seek(0);
      ByteBuffer again = streams.get(max).borrow(5000, true);
      assertThat(again).isNotNull();
      streams.get(max).giveBack(again);
      streams.get(max).close();
    }
  }
}
