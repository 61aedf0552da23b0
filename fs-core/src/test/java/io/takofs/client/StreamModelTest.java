package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Extent;
import io.takofs.proto.Status;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamModelTest {
  private final FakeServer server = new FakeServer(32 << 20, 262144);
  private final TakoClient client =
      new TakoClient(URI.create("tako://fake:1"), new TakoConfig(), "alice", server);

  @AfterEach
  void close() {
    client.close();
  }

  private byte[] readAll(String path) throws IOException {
    try (TakoInputStream in = client.open(path)) {
      return in.readAllBytes();
    }
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0, 1, 2047, 2048, 2049, 4095, 4096, 4097, 65535, 65536, 65537, 262143, 262144, 262145,
        1048575, 1048576, 1048577, 5000000
      })
  void shouldReadWhatWasWritten(int length) throws IOException {
    byte[] expected = Bytes.random(length, length);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(expected);
      assertThat(out.getPos()).isEqualTo(length);
    }
    assertThat(client.getStatus("/f").length()).isEqualTo(length);
    Bytes.assertEqual(readAll("/f"), expected);
    assertThat(server.extentCount("/f") == 0).isEqualTo(length <= FakeServer.INLINE_MAX);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100, 2048, 2049, 4096, 70000, 262144, 300000})
  void shouldAppend(int length) throws IOException {
    byte[] expected = Bytes.random(length + 300000, length);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(expected, 0, length);
    }
    int from = length;
    for (int count : new int[] {0, 1, 99, 4000, 295900}) {
      try (TakoOutputStream out = client.append("/f")) {
        assertThat(out.getPos()).isEqualTo(from);
        out.write(expected, from, count);
        from += count;
      }
      Bytes.assertEqual(readAll("/f"), Arrays.copyOf(expected, from));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2048, 4095, 4096, 4097, 262143, 262144, 262145, 400000})
  void shouldTruncate(int length) throws IOException {
    byte[] expected = Bytes.random(400000, length);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(expected);
    }
    client.truncate("/f", length);
    Bytes.assertEqual(readAll("/f"), Arrays.copyOf(expected, length));
  }

  @Test
  void shouldFlushBehindWhatIsCommitted() throws IOException {
    byte[] expected = Bytes.random(20480, 7);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT);
        TakoInputStream in = client.open("/f")) {
      ByteArrayOutputStream seen = new ByteArrayOutputStream();
      for (int from = 0; from < expected.length; from += 128) {
        out.write(expected, from, 128);
        out.hflush();
        byte[] next = new byte[129];
        assertThat(in.read(next)).isEqualTo(128);
        seen.write(next, 0, 128);
        assertThat(in.read(next)).isEqualTo(-1);
      }
      Bytes.assertEqual(seen.toByteArray(), expected);
    }
    assertThat(server.extentCount("/f")).isEqualTo(1);
  }

  @Test
  void shouldKeepUnflushedBytesInvisible() throws IOException {
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(Bytes.random(100000, 1));
      assertThat(readAll("/f")).isEmpty();
      out.hflush();
      out.write(Bytes.random(100000, 2));
      Bytes.assertEqual(readAll("/f"), Bytes.random(100000, 1));
    }
  }

  @Test
  void shouldNeverReturnDamagedBytes() throws IOException {
    byte[] expected = Bytes.random(300000, 5);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(expected);
    }
    Random random = new Random(5);
    for (int i = 0; i < 200; i++) {
      int position = random.nextInt(expected.length);
      Extent extent = server.extents("/f").get(position / 262144);
      int at = extent.getOffset() + position % 262144;
      byte was = server.arena.get(at);
      server.arena.put(at, (byte) (was ^ 1 << random.nextInt(8)));
      int from = random.nextInt(position + 1);
      try (TakoInputStream in = client.open("/f")) {
        byte[] target = new byte[position - from + 1 + random.nextInt(100)];
        assertStatus(() -> in.read(from, target, 0, target.length), Status.CORRUPT);
      }
      server.arena.put(at, was);
    }
    Bytes.assertEqual(readAll("/f"), expected);
  }

  @Test
  void shouldNoticeDamagedChecksums() throws IOException {
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(Bytes.random(300000, 5));
    }
    int entry = server.extents("/f").get(0).getOffset() / 4096 * 4 + 40;
    server.arena.putInt(entry, server.arena.getInt(entry) + 1);
    try (TakoInputStream in = client.open("/f")) {
      byte[] target = new byte[10];
      assertStatus(() -> in.read(0, target, 0, 10), Status.CORRUPT);
    }
  }

  private static void assertStatus(ThrowingCallable call, Status status) {
    Throwable failure = catchThrowable(call);
    assertThat(failure).isInstanceOf(TakoException.class);
    assertThat(((TakoException) failure).status()).isEqualTo(status);
  }

  @Test
  void shouldFailTheStreamForGoodAndKeepWhatWasFlushed() throws IOException {
    FakeServer tiny = new FakeServer((1 << 20) + (1 << 20), 262144);
    try (TakoClient small =
        new TakoClient(URI.create("tako://fake:1"), new TakoConfig(), "alice", tiny)) {
      byte[] expected = Bytes.random(2 << 20, 3);
      TakoOutputStream out = small.create("/f", CreateOptions.DEFAULT);
      out.write(expected, 0, 500000);
      out.hflush();
      assertStatus(() -> out.write(expected, 500000, 1500000), Status.NO_SPACE);
      assertStatus(() -> out.write(1), Status.NO_SPACE);
      assertStatus(out::hflush, Status.NO_SPACE);
      assertStatus(out::close, Status.NO_SPACE);
      out.close();
      try (TakoInputStream in = small.open("/f")) {
        Bytes.assertEqual(in.readAllBytes(), Arrays.copyOf(expected, 500000));
      }
      assertThat(small.getStatus("/f").underConstruction()).isFalse();
    }
  }

  @Test
  void shouldCarryOnWritingAcrossABrokenConnection() throws IOException {
    byte[] expected = Bytes.random(900000, 9);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      for (int from = 0; from < expected.length; from += 100000) {
        out.write(expected, from, 100000);
        server.disconnectAll();
        server.refuseConnections(2);
        out.hflush();
      }
    }
    Bytes.assertEqual(readAll("/f"), expected);
  }

  @Test
  void shouldLoseTheLeaseWithTheSession() throws IOException {
    TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT);
    out.write(Bytes.random(5000, 1));
    out.hflush();
    server.expireSessions();
    out.write(Bytes.random(5000, 2));
    assertStatus(out::hflush, Status.SESSION_EXPIRED);
    assertStatus(out::close, Status.SESSION_EXPIRED);
    Bytes.assertEqual(readAll("/f"), Bytes.random(5000, 1));
  }
}
