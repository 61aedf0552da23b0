package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.SharedCleaner;
import io.takofs.base.TakoException;
import io.takofs.client.FakeServer.Fault;
import io.takofs.client.internal.file.Lender;
import io.takofs.config.TakoConfig;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Extent;
import io.takofs.proto.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests which of the server's memory readers hold, and when they release it. */
@Timeout(60)
class LenderTest {
  private static final int EXTENT = 65536;
  private static final int COUNT = Lender.WINDOW + 4;

  private final byte[] content = Bytes.random(COUNT * EXTENT, 4);
  @TempDir Path directory;
  private FakeServer server;
  private NativeFile data;
  private TakoClient client;

  @BeforeEach
  void start() throws IOException {
    Path file = directory.resolve("data");
    server = FakeServer.overFile(file, 8 << 20, EXTENT);
    data = NativeFile.open(file, 0);
    client = client("20s");
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content);
    }
  }

  @AfterEach
  void stop() {
    client.close();
    data.close();
  }

  private TakoClient client(String timeout) throws TakoException {
    TakoConfig config = new TakoConfig().set("fs.tako.client.timeout", timeout);
    return new TakoClient(URI.create("tako://fake:1"), config, "alice", server);
  }

  /** Extents that this process keeps the server from giving away. */
  private int held() {
    int held = 0;
    try {
      for (Extent extent : server.extents("/f")) {
        held += data.isLockedByOther(extent.getOffset(), extent.getCapacity()) ? 1 : 0;
      }
    } catch (TakoException e) {
      throw new UncheckedIOException(e);
    }
    return held;
  }

  private void check(ByteBuffer bytes, int position) {
    byte[] copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    Bytes.assertEqual(copy, Arrays.copyOfRange(content, position, position + copy.length));
  }

  private static void collectGarbageUntil(BooleanSupplier condition) {
    Background.awaitUntil(
        () -> {
          System.gc();
          return condition.getAsBoolean();
        });
  }

  @Test
  void shouldHoldNothingForAStreamThatIsGarbage() throws IOException {
    TakoInputStream[] in = {client.open("/f")};
    ByteBuffer[] lent = {in[0].borrow(1000, true)};
    assertThat(held()).isEqualTo(Lender.WINDOW);
    lent[0] = lent[0].slice(10, 100).duplicate();
    in[0] = null;
    collectGarbageUntil(() -> held() == 1);
    AtomicBoolean collected = new AtomicBoolean();
    SharedCleaner.register(new Object(), () -> collected.set(true));
    collectGarbageUntil(collected::get);
    assertThat(held()).as("extents with bytes that can be reached").isEqualTo(1);
    check(lent[0], 10);
    lent[0] = null;
    collectGarbageUntil(() -> held() == 0);
  }

  @Test
  void shouldKeepNobodyWaitingForASlowServer() throws Exception {
    TakoInputStream in = client.open("/f");
    ByteBuffer first = in.borrow(1000, true);
    int behind = Lender.WINDOW * EXTENT;
    in.seek(behind);
    server.failNext(Fault.STALL);
    AtomicReference<ByteBuffer> second = new AtomicReference<>();
    CompletableFuture<Void> borrowing = Background.run(() -> second.set(in.borrow(EXTENT, true)));
    Background.awaitUntil(() -> server.stalled() == 1);
    assertThat(in.giveBack(first)).isTrue();
    assertThat(in.read(5, new byte[10], 0, 10)).isEqualTo(10);
    in.close();
    assertThat(server.stalled()).as("borrowers that wait still").isEqualTo(1);
    server.disconnectAll();
    borrowing.get(20, TimeUnit.SECONDS);
    check(second.get(), behind);
    assertThat(held()).as("of a stream that is closed").isEqualTo(1);
    assertThat(in.giveBack(second.get())).isTrue();
    assertThat(held()).isZero();
  }

  /** A hold that one reader releases does not end another reader's hold. */
  @Test
  void shouldHoldNothingThatIsUnconfirmed() throws IOException {
    client.close();
    client = client("300ms");
    try (TakoInputStream in = client.open("/f");
        TakoInputStream other = client.open("/f")) {
      ByteBuffer ofOther = other.borrow(1000, true);
      other.unbuffer();
      assertThat(held()).isEqualTo(1);
      server.failNext(Fault.STALL);
      Throwable failure = catchThrowable(() -> in.borrow(1000, true));
      assertThat(((TakoException) failure).status()).isEqualTo(Status.DEADLINE_EXCEEDED);
      assertThat(held()).isEqualTo(1);
      assertThat(in.getPos()).isZero();
      ByteBuffer again = in.borrow(1000, true);
      check(again, 0);
      assertThat(other.giveBack(ofOther)).isTrue();
      assertThat(held()).isEqualTo(Lender.WINDOW);
      check(again, 0);
      in.unbuffer();
      assertThat(held()).isEqualTo(1);
      assertThat(in.giveBack(again)).isTrue();
      assertThat(held()).isZero();
    }
  }
}
