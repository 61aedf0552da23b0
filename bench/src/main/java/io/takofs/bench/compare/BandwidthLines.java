package io.takofs.bench.compare;

import io.takofs.bench.report.Unit;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.io.ByteBufferPool;
import org.apache.hadoop.io.ElasticByteBufferPool;

/** One thread moves much data, in buffers of 1 MiB or in ranges. */
final class BandwidthLines {
  static final int MEBIBYTE = 1 << 20;

  private BandwidthLines() {}

  static List<Line> all() {
    return List.of(
        new SequentialWrite(),
        new SequentialRead(),
        new DirectRead(),
        new BorrowingRead(),
        new VectoredRead());
  }

  /** Base of the lines: a file of random bytes, and figures in MiB/s. */
  abstract static class Bandwidth implements Line {
    private final String name;
    private final int mebibytes;
    final byte[] buffer = new byte[MEBIBYTE];

    Bandwidth(String name, int mebibytes) {
      this.name = name;
      this.mebibytes = mebibytes;
      new Random(1).nextBytes(buffer);
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Unit unit() {
      return Unit.MEBIBYTES_PER_SECOND;
    }

    @Override
    public int batch() {
      return mebibytes;
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      candidate.fs().mkdirs(candidate.base());
    }

    static Path file(BenchCandidate candidate) {
      return new Path(candidate.base(), "file");
    }

    void write(BenchCandidate candidate) throws IOException {
      try (FSDataOutputStream out = candidate.fs().create(file(candidate), true, MEBIBYTE)) {
        for (int i = 0; i < mebibytes; i++) {
          out.write(buffer);
        }
      }
    }

    FSDataInputStream open(BenchCandidate candidate) throws IOException {
      return candidate.fs().open(file(candidate), MEBIBYTE);
    }
  }

  /** A line that reads what it wrote before. */
  private abstract static class Read extends Bandwidth {
    Read(String name, int mebibytes) {
      super(name, mebibytes);
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      write(candidate);
    }

    /** The line as this candidate reads into {@code target}; null if it has nothing to read. */
    Line into(ByteBuffer target, BenchCandidate candidate) {
      if (candidate.is(BenchCandidate.RAW_TCP)) {
        return new RawTcpRead(this, target);
      }
      return candidate.is(BenchCandidate.MEMORY)
          ? MemoryCopy.read(this, target)
          : super.of(candidate);
    }
  }

  private static final class SequentialWrite extends Bandwidth {
    SequentialWrite() {
      super("sequential write", 256);
    }

    @Override
    public Line of(BenchCandidate candidate) {
      ByteBuffer source = ByteBuffer.wrap(buffer);
      if (candidate.is(BenchCandidate.MEMORY_THREE_TIMES)) {
        return MemoryCopy.write(this, source, 3);
      }
      return candidate.is(BenchCandidate.MEMORY)
          ? MemoryCopy.write(this, source, 1)
          : super.of(candidate);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      write(candidate);
    }
  }

  private static final class SequentialRead extends Read {
    SequentialRead() {
      super("sequential read", 256);
    }

    @Override
    public Line of(BenchCandidate candidate) {
      return into(ByteBuffer.wrap(buffer), candidate);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      try (FSDataInputStream in = open(candidate)) {
        for (int i = 0; i < batch(); i++) {
          in.readFully(buffer);
        }
      }
    }
  }

  /** Reads into a buffer outside of the heap, which the collector does not move. */
  private static final class DirectRead extends Read {
    private final ByteBuffer direct = ByteBuffer.allocateDirect(MEBIBYTE);

    DirectRead() {
      super("sequential read, direct buffer", 256);
    }

    /** Hadoop's local file system has no such reads. */
    @Override
    public Line of(BenchCandidate candidate) {
      return candidate.is(BenchCandidate.LOCAL) ? null : into(direct, candidate);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      try (FSDataInputStream in = open(candidate)) {
        for (int i = 0; i < batch(); i++) {
          direct.clear();
          while (direct.hasRemaining()) {
            if (in.read(direct) < 0) {
              throw new EOFException(candidate.name() + ": " + file(candidate) + " ends too early");
            }
          }
        }
      }
    }
  }

  /**
   * Reads into buffers that the file system chooses. Over shared memory it names no pool for a
   * copy, so that a byte which does not come from where it lies is an error: all of them do.
   */
  private static final class BorrowingRead extends Read {
    private final ByteBufferPool pool = new ElasticByteBufferPool();

    BorrowingRead() {
      super("zero-copy read", 256);
    }

    /** HDFS has such reads with short-circuit access only, which is not set up here. */
    @Override
    public Line of(BenchCandidate candidate) {
      return candidate.isHdfs() ? null : super.of(candidate);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      ByteBufferPool copies = candidate.is(BenchCandidate.TAKO_SHM) ? null : pool;
      long left = (long) batch() * MEBIBYTE;
      try (FSDataInputStream in = open(candidate)) {
        while (left > 0) {
          ByteBuffer bytes = in.read(copies, MEBIBYTE, EnumSet.noneOf(ReadOption.class));
          if (bytes == null) {
            throw new IOException(
                candidate.name() + ": " + file(candidate) + " ends " + left + " bytes too early");
          }
          left -= bytes.remaining();
          in.releaseBuffer(bytes);
        }
      }
    }
  }

  /** 64 ranges of 64 KiB at a time, each somewhere in a sixty-fourth of the file of 64 MiB. */
  private static final class VectoredRead extends Read {
    private static final int RANGES = 64;
    private static final int RANGE_BYTES = 64 << 10;
    private static final int SLOTS = MEBIBYTE / RANGE_BYTES;
    private final ElasticByteBufferPool pool = new ElasticByteBufferPool();

    VectoredRead() {
      super("vectored read, 64 x 64 KiB", 64);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws Exception {
      Random random = new Random(round);
      try (FSDataInputStream in = open(candidate)) {
        for (int left = batch() * SLOTS; left > 0; left -= RANGES) {
          List<FileRange> ranges = new ArrayList<>();
          for (long i = 0; i < RANGES; i++) {
            long slot = i * SLOTS + random.nextInt(SLOTS);
            ranges.add(FileRange.createFileRange(slot * RANGE_BYTES, RANGE_BYTES));
          }
          in.readVectored(ranges, bytes -> pool.getBuffer(false, bytes));
          for (FileRange range : ranges) {
            pool.putBuffer(range.getData().get());
          }
        }
      }
    }
  }
}
