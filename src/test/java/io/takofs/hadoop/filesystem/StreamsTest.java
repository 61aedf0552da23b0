package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.hadoop.TestServer;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.io.ByteBufferPool;
import org.apache.hadoop.io.ElasticByteBufferPool;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Capabilities of streams beyond reading and writing, and whether they declare them. */
class StreamsTest {
  private static final int LENGTH = 3_000_000;
  private static final Path FILE = new Path("/streams/file");
  private static final EnumSet<ReadOption> VERIFIED = EnumSet.noneOf(ReadOption.class);

  /** Tries something; throws when it does not work. */
  @FunctionalInterface
  private interface Trial {
    void run() throws Exception;
  }

  private final byte[] content = new byte[LENGTH];
  private FileSystem fs;

  @BeforeEach
  void write() throws IOException {
    new Random(5).nextBytes(content);
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    fs = FileSystem.newInstance(conf);
    try (FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(content);
    }
  }

  private static boolean isMapped() {
    return TestServer.transport().equals("shm");
  }

  /** Every capability that Hadoop has a name for: what is claimed works, and nothing else does. */
  private static void check(StreamCapabilities stream, Map<String, Trial> trials) throws Exception {
    for (Map.Entry<String, Trial> each : trials.entrySet()) {
      if (stream.hasCapability(each.getKey())) {
        each.getValue().run();
      } else {
        assertThatThrownBy(each.getValue()::run)
            .as(each.getKey())
            .isInstanceOf(UnsupportedOperationException.class);
      }
    }
  }

  @Test
  void shouldClaimWhatInputStreamsDo() throws Exception {
    try (FSDataInputStream in = fs.open(FILE)) {
      ByteBuffer buffer = ByteBuffer.allocate(10);
      FileRange range = FileRange.createFileRange(7, 10);
      check(
          in,
          Map.of(
              StreamCapabilities.READAHEAD, () -> in.setReadahead(1L << 20),
              StreamCapabilities.DROPBEHIND, () -> in.setDropBehind(true),
              StreamCapabilities.UNBUFFER, in::unbuffer,
              StreamCapabilities.READBYTEBUFFER, () -> in.read(buffer.clear()),
              StreamCapabilities.PREADBYTEBUFFER, () -> in.readFully(5, buffer.clear()),
              StreamCapabilities.IOSTATISTICS,
                  () -> assertThat(in.getIOStatistics().counters()).isNotEmpty(),
              StreamCapabilities.VECTOREDIO,
                  () -> in.readVectored(List.of(range), ByteBuffer::allocate)));
      assertThat(in.hasCapability(StreamCapabilities.READAHEAD)).isTrue();
      assertThat(in.hasCapability(StreamCapabilities.VECTOREDIO)).isTrue();
      assertThat(in.hasCapability(StreamCapabilities.HSYNC)).isFalse();
      // Nothing is sliced: what was allocated is what is given.
      assertThat(in.hasCapability(StreamCapabilities.VECTOREDIO_BUFFERS_SLICED)).isFalse();
      assertThat(range.getData().get()).isEqualTo(ByteBuffer.wrap(content, 7, 10));
      in.setReadahead(null);
      assertThatThrownBy(() -> in.setReadahead(-1L)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void shouldClaimWhatOutputStreamsDo() throws Exception {
    try (FSDataOutputStream out = fs.create(new Path("/streams/out"), true)) {
      check(
          out,
          Map.of(
              "hflush",
              out::hflush,
              StreamCapabilities.HSYNC,
              out::hsync,
              StreamCapabilities.DROPBEHIND,
              () -> out.setDropBehind(false),
              StreamCapabilities.ABORTABLE_STREAM,
              out::abort,
              StreamCapabilities.IOSTATISTICS,
              () -> assertThat(out.getIOStatistics().counters()).isNotEmpty()));
      assertThat(out.hasCapability(StreamCapabilities.HSYNC)).isTrue();
      assertThat(out.getIOStatistics().counters()).containsEntry(StoreStatisticNames.OP_HFLUSH, 1L);
    }
  }

  /** Small ones are gathered, those as large as the buffer are not; a file goes on anywhere. */
  @Test
  @Tag("long") // It takes minutes where processors are emulated.
  void shouldKeepTheOrderOfWritesOfAnySize() throws Exception {
    Path path = new Path("/streams/sizes");
    int[] sizes = {0, 1, 100, 4095, 4096, 4097, 12_289, 16_383, 16_384, 16_385, 40_000};
    Random random = new Random(11);
    fs.create(path, true).close();
    int written = 0;
    for (int part = 0; part < 20; part++) {
      try (FSDataOutputStream out = fs.append(path)) {
        for (int i = 0; i < 15; i++) {
          int size = Math.min(sizes[random.nextInt(sizes.length)], LENGTH - written);
          if (size == 1) {
            out.write(content[written]);
          } else {
            out.write(content, written, size);
          }
          written += size;
          assertThat(out.getPos()).isEqualTo(written);
          if (random.nextInt(8) == 0) {
            out.hflush();
            assertThat(content(path)).isEqualTo(Arrays.copyOf(content, written));
          }
        }
      }
      assertThat(content(path)).isEqualTo(Arrays.copyOf(content, written));
    }
    assertThat(written).isGreaterThan(1 << 20);
  }

  private byte[] content(Path path) throws IOException {
    try (FSDataInputStream in = fs.open(path)) {
      return in.readAllBytes();
    }
  }

  @Test
  void shouldReadRangesIntoBuffersOfTheCaller() throws Exception {
    try (FSDataInputStream in = fs.open(FILE)) {
      List<FileRange> ranges =
          List.of(
              FileRange.createFileRange(2_000_000, 500_000),
              FileRange.createFileRange(0, 1),
              FileRange.createFileRange(LENGTH - 10, 20),
              FileRange.createFileRange(100, 0));
      List<ByteBuffer> given = new ArrayList<>();
      List<ByteBuffer> released = new ArrayList<>();
      in.readVectored(
          ranges,
          size -> {
            given.add(ByteBuffer.allocateDirect(size + 5)); // pools give more than is asked for
            return given.get(given.size() - 1);
          },
          released::add);
      assertThat(ranges.get(0).getData().get())
          .isEqualTo(ByteBuffer.wrap(content, 2_000_000, 500_000));
      assertThat(ranges.get(1).getData().get()).isEqualTo(ByteBuffer.wrap(content, 0, 1));
      assertThat(ranges.get(3).getData().get().remaining()).isZero();
      assertThatThrownBy(() -> ranges.get(2).getData().get())
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(EOFException.class);
      assertThat(given).hasSize(4);
      assertThat(released).hasSize(1);
      assertThat(released.get(0).capacity()).isEqualTo(25);
      assertThat(in.getIOStatistics().counters())
          .containsEntry(StreamStatisticNames.STREAM_READ_VECTORED_OPERATIONS, 1L)
          .containsEntry(StreamStatisticNames.STREAM_READ_VECTORED_INCOMING_RANGES, 4L)
          .containsEntry(StreamStatisticNames.STREAM_READ_BYTES, 500_011L);
    }
  }

  /** A pool that counts. */
  private static final class CountingPool implements ByteBufferPool {
    private final ElasticByteBufferPool pool = new ElasticByteBufferPool();
    private int taken;
    private int out;

    @Override
    public ByteBuffer getBuffer(boolean direct, int length) {
      taken++;
      out++;
      return pool.getBuffer(direct, length);
    }

    @Override
    public void putBuffer(ByteBuffer buffer) {
      out--;
      pool.putBuffer(buffer);
    }
  }

  @Test
  void shouldLendBytesOrCopyThem() throws Exception {
    CountingPool pool = new CountingPool();
    long read = bytesRead();
    try (FSDataInputStream in = fs.open(FILE)) {
      assertThat(in.read()).isEqualTo(content[0] & 0xff); // what is gathered is not lost
      int at = 1;
      for (ByteBuffer next; (next = in.read(pool, 700_000, VERIFIED)) != null; ) {
        byte[] bytes = new byte[next.remaining()];
        next.duplicate().get(bytes);
        assertThat(Arrays.equals(bytes, 0, bytes.length, content, at, at + bytes.length)).isTrue();
        at += bytes.length;
        assertThat(in.getPos()).isEqualTo(at);
        ByteBuffer lent = next;
        in.releaseBuffer(lent);
        assertThatThrownBy(() -> in.releaseBuffer(lent))
            .isInstanceOf(IllegalArgumentException.class);
      }
      assertThat(at).isEqualTo(LENGTH);
      assertThat(pool.taken > 1).as("copies").isEqualTo(!isMapped());
      assertThat(pool.out).isZero();
      assertThat(in.read(pool, 0, VERIFIED).remaining()).isZero();
      assertThat(in.read(pool, 100, VERIFIED)).isNull();
    }
    long now = bytesRead();
    assertThat(now - read).isEqualTo(LENGTH);
  }

  private long bytesRead() {
    return FileSystem.getGlobalStorageStatistics().get(fs.getScheme()).getLong("bytesRead");
  }

  @Test
  void shouldLendWithoutAPoolOnlyWhereNothingIsCopied() throws Exception {
    try (FSDataInputStream in = fs.open(FILE)) {
      if (isMapped()) {
        ByteBuffer lent = in.read(null, 4096, EnumSet.of(ReadOption.SKIP_CHECKSUMS));
        assertThat(lent.isReadOnly()).isTrue();
        assertThat(lent.isDirect()).isTrue();
        fs.delete(FILE, false);
        assertThat(lent).isEqualTo(ByteBuffer.wrap(content, 0, 4096));
        in.releaseBuffer(lent);
      } else {
        assertThatThrownBy(() -> in.read(null, 4096, VERIFIED))
            .isInstanceOf(UnsupportedOperationException.class)
            .hasMessageContaining("no pool");
      }
    }
  }

  @Test
  void shouldOpenAsTheBuilderIsTold() throws Exception {
    for (String policy :
        List.of("random", "whole-file", "adaptive", "unheard-of, parquet", "vector", "")) {
      FutureDataInputStreamBuilder builder =
          fs.openFile(FILE)
              .must("fs.option.openfile.read.policy", policy)
              .opt("fs.option.openfile.length", LENGTH)
              .opt("fs.option.openfile.split.start", "1e6")
              .opt("fs.option.openfile.split.end", "nonsense")
              .opt("fs.option.openfile.buffer.size", 100)
              .withFileStatus(fs.getFileStatus(FILE));
      try (FSDataInputStream in = builder.build().get()) {
        byte[] all = new byte[LENGTH];
        in.readFully(all);
        assertThat(Arrays.equals(all, content)).as(policy).isTrue();
      }
    }
    assertThatThrownBy(() -> fs.openFile(FILE).must("fs.tako.unheard.of", "1").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fs.tako.unheard.of");
    assertThatThrownBy(() -> fs.openFile(new Path("/streams/none")).build().get())
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(FileNotFoundException.class);
  }

  @Test
  void shouldCreateAsTheBuilderIsTold() throws Exception {
    Path path = new Path("/streams/made/built");
    FSDataOutputStreamBuilder<?, ?> builder = fs.createFile(path);
    builder.recursive();
    builder.must("fs.tako.create.expected.length", LENGTH);
    builder.opt("fs.tako.unheard.of", "1");
    try (FSDataOutputStream out = builder.build()) {
      out.write(content);
    }
    FSDataOutputStreamBuilder<?, ?> appending = fs.appendFile(path);
    try (FSDataOutputStream out = appending.build()) {
      out.write(1);
    }
    assertThat(fs.getFileStatus(path).getLen()).isEqualTo(LENGTH + 1);
    FSDataOutputStreamBuilder<?, ?> refused = fs.createFile(path);
    refused.must("fs.tako.unheard.of", "1");
    assertThatThrownBy(refused::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fs.tako.unheard.of");
    FSDataOutputStreamBuilder<?, ?> orphan = fs.createFile(new Path("/streams/missing/file"));
    assertThatThrownBy(orphan::build).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void shouldCountOperationsAndTheirDurations() throws Exception {
    IOStatistics statistics = ((IOStatisticsSource) fs).getIOStatistics();
    long created = statistics.counters().get(StoreStatisticNames.OP_CREATE);
    fs.mkdirs(new Path("/streams/counted"));
    fs.getFileStatus(FILE);
    assertThatThrownBy(() -> fs.getFileStatus(new Path("/streams/none")))
        .isInstanceOf(FileNotFoundException.class);
    fs.open(FILE).close();
    assertThat(statistics.counters())
        .containsEntry(StoreStatisticNames.OP_CREATE, created)
        .containsEntry(StoreStatisticNames.OP_MKDIRS, 1L)
        .containsEntry(StoreStatisticNames.OP_GET_FILE_STATUS, 2L)
        .containsEntry(StoreStatisticNames.OP_GET_FILE_STATUS + ".failures", 1L)
        .containsEntry(StoreStatisticNames.OP_OPEN, 1L);
    assertThat(statistics.meanStatistics().get(StoreStatisticNames.OP_OPEN + ".mean").getSamples())
        .isEqualTo(1);
    assertThat(fs.getStorageStatistics().getLong(StoreStatisticNames.OP_MKDIRS)).isEqualTo(1);
    assertThat(fs.getStorageStatistics().isTracked("op_unheard_of")).isFalse();
  }
}
