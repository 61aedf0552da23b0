package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.OpenOptions.ReadPattern;
import io.takofs.client.internal.zone.ServedArena;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files that are read from server 2 by transfers, which stands still; 3 and 4 have them, too. */
@Timeout(60)
class LateReadTest extends ReplicatedFileFixture {
  private enum Reading {
    STREAM,
    POSITIONED,
    RANGES
  }

  private final byte[] content = bytes(LENGTH);
  private final CountDownLatch silence = new CountDownLatch(1);
  private ServedArena arena;
  private TakoClient reader;

  @BeforeEach
  void write() throws IOException {
    arena = new ServedArena(FakeSlabs.ARENA_SIZE);
    servers.set(0, new FakeDataServer(2, arena));
    slabs = leader.replicate(3, servers);
    slabs.putClientsNear(2);
    write("/f", content);
  }

  @AfterEach
  void end() {
    silence.countDown();
    arena.goOn();
    reader.close();
    client.close(); // before the arena that its connections are to
    arena.close();
  }

  /** Reads once, so that the reader is connected to server 2 and knows how long that takes. */
  private void readFirst(Reading how, String replicaTimeout) throws IOException {
    reader = connect("50s", replicaTimeout);
    assertThat(read(how)).isEqualTo(content);
  }

  private FutureTask<byte[]> readWhileItStandsStill(Reading how) {
    arena.standStill();
    FutureTask<byte[]> read = new FutureTask<>(() -> read(how));
    Thread thread = new Thread(read);
    thread.setDaemon(true);
    thread.start();
    return read;
  }

  @ParameterizedTest
  @EnumSource(Reading.class)
  void shouldNotWaitForAnotherServerWhenTheBytesComeMeanwhile(Reading how) throws Exception {
    readFirst(how, "40s");
    server(3).beSilent(silence);
    server(4).beSilent(silence);
    FutureTask<byte[]> read = readWhileItStandsStill(how);
    Background.awaitUntil(() -> server(3).silences() + server(4).silences() > 0);
    arena.goOn();
    assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(content);
    assertThat(reader.hedgedReads()).isZero();
    assertThat(read(how)).as("from the server that was late").isEqualTo(content);
  }

  @ParameterizedTest
  @EnumSource(Reading.class)
  void shouldReadFromAnotherServerOnceThatIsConnectedTo(Reading how) throws Exception {
    readFirst(how, "40s");
    assertThat(readWhileItStandsStill(how).get(20, TimeUnit.SECONDS)).isEqualTo(content);
    assertThat(reader.hedgedReads()).isPositive();
    assertThat(slabs.reports()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Reading.class)
  void shouldLeaveAServerAfterItsTimeWhenNoOtherIsThereBefore(Reading how) throws Exception {
    readFirst(how, "500ms");
    server(3).die();
    server(4).die();
    FutureTask<byte[]> read = readWhileItStandsStill(how);
    Background.awaitUntil(() -> server(3).refusals() > 0 && server(4).refusals() > 0);
    Background.awaitUntil(
        () -> slabs.reports().stream().anyMatch(report -> report.getServer() == 2));
    server(3).revive();
    server(4).revive();
    assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(content);
    assertThat(reader.hedgedReads()).isZero();
  }

  private byte[] read(Reading how) throws IOException {
    OpenOptions sequential = OpenOptions.DEFAULT.withPattern(ReadPattern.SEQUENTIAL);
    byte[] read = new byte[LENGTH];
    int step = 100_000;
    List<ReadRange> ranges = new ArrayList<>();
    try (TakoInputStream in =
        reader.open("/f", how == Reading.STREAM ? sequential : OpenOptions.DEFAULT)) {
      for (int from = 0; from < LENGTH; from += step) {
        int count = Math.min(step, LENGTH - from);
        switch (how) {
          case STREAM -> assertThat(in.readNBytes(read, from, count)).isEqualTo(count);
          case POSITIONED -> in.readFully(from, read, from, count);
          case RANGES -> ranges.add(new ReadRange(from, ByteBuffer.wrap(read, from, count)));
        }
      }
      in.read(ranges);
    }
    return read;
  }
}
