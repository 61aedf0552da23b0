package io.takofs.bench.compare;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;

/** One thread moves a file in buffers of 1 MiB. */
final class BandwidthLines {
  private static final int BUFFER = 1 << 20;
  private static final int MEBIBYTES = 256;

  private BandwidthLines() {}

  static List<Line> all() {
    return List.of(new SequentialWrite(), new SequentialRead());
  }

  private abstract static class Bandwidth implements Line {
    private final String name;
    final byte[] buffer = new byte[BUFFER];

    Bandwidth(String name) {
      this.name = name;
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
      return MEBIBYTES;
    }

    @Override
    public void prepare(Candidate candidate, int round) throws Exception {
      candidate.fs().mkdirs(candidate.base());
    }

    static Path file(Candidate candidate) {
      return new Path(candidate.base(), "file");
    }

    void write(Candidate candidate) throws IOException {
      try (FSDataOutputStream out = candidate.fs().create(file(candidate), true, BUFFER)) {
        for (int i = 0; i < MEBIBYTES; i++) {
          out.write(buffer);
        }
      }
    }
  }

  private static final class SequentialWrite extends Bandwidth {
    SequentialWrite() {
      super("sequential write");
    }

    @Override
    public void run(Candidate candidate, int round) throws IOException {
      write(candidate);
    }
  }

  private static final class SequentialRead extends Bandwidth {
    SequentialRead() {
      super("sequential read");
    }

    @Override
    public void prepare(Candidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      write(candidate);
    }

    @Override
    public void run(Candidate candidate, int round) throws IOException {
      byte[] sink = new byte[BUFFER];
      try (FSDataInputStream in = candidate.fs().open(file(candidate), BUFFER)) {
        for (int i = 0; i < MEBIBYTES; i++) {
          in.readFully(sink);
        }
      }
    }
  }
}
