package io.takofs.bench.compare;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** One thread, one operation after the other. */
final class LatencyLines {
  private LatencyLines() {}

  static List<Line> all() {
    return List.of(
        new Stat(),
        new Mkdirs(),
        new Create(),
        new Rename(),
        new Delete(),
        new ListOfThousand(),
        new Flush(),
        new PositionedRead());
  }

  /** Base of the lines: figures in microseconds. */
  private abstract static class Latency implements Line {
    private final String name;
    private final int batch;

    Latency(String name, int batch) {
      this.name = name;
      this.batch = batch;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Unit unit() {
      return Unit.MICROSECONDS;
    }

    @Override
    public int batch() {
      return batch;
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      candidate.fs().mkdirs(candidate.base());
    }

    static Path child(BenchCandidate candidate, String prefix, int number) {
      return new Path(candidate.base(), prefix + number);
    }

    void createAll(BenchCandidate candidate) throws IOException {
      for (int i = 0; i < batch; i++) {
        candidate.fs().create(child(candidate, "f", i)).close();
      }
    }
  }

  private static final class Stat extends Latency {
    Stat() {
      super("stat", 20000);
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      candidate.fs().create(child(candidate, "f", 0)).close();
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      Path path = child(candidate, "f", 0);
      for (int i = 0; i < batch(); i++) {
        candidate.fs().getFileStatus(path);
      }
    }
  }

  private static final class Mkdirs extends Latency {
    Mkdirs() {
      super("mkdirs", 2000);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      for (int i = 0; i < batch(); i++) {
        candidate.fs().mkdirs(child(candidate, "d", i));
      }
    }
  }

  private static final class Create extends Latency {
    Create() {
      super("create+close", 2000);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      createAll(candidate);
    }
  }

  private static final class Rename extends Latency {
    Rename() {
      super("rename", 2000);
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      createAll(candidate);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      for (int i = 0; i < batch(); i++) {
        if (!candidate.fs().rename(child(candidate, "f", i), child(candidate, "g", i))) {
          throw new IOException("rename refused by " + candidate.name());
        }
      }
    }
  }

  private static final class Delete extends Latency {
    Delete() {
      super("delete", 2000);
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      createAll(candidate);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      for (int i = 0; i < batch(); i++) {
        if (!candidate.fs().delete(child(candidate, "f", i), false)) {
          throw new IOException("delete refused by " + candidate.name());
        }
      }
    }
  }

  private static final class ListOfThousand extends Latency {
    ListOfThousand() {
      super("list of 1000", 300);
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      for (int i = 0; i < 1000; i++) {
        candidate.fs().create(child(candidate, "f", i)).close();
      }
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      for (int i = 0; i < batch(); i++) {
        FileStatus[] entries = candidate.fs().listStatus(candidate.base());
        if (entries.length != 1000) {
          throw new IOException(candidate.name() + " listed " + entries.length + " of 1000");
        }
      }
    }
  }

  private static final class Flush extends Latency {
    private FSDataOutputStream out;

    Flush() {
      super("hflush of 128 B", 20000);
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      out = candidate.fs().create(child(candidate, "f", 0));
      out.write(1);
      out.hflush();
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      byte[] record = new byte[128];
      for (int i = 0; i < batch(); i++) {
        out.write(record);
        out.hflush();
      }
    }

    @Override
    public void finish(BenchCandidate candidate, int round) throws Exception {
      out.close();
      super.finish(candidate, round);
    }
  }

  private static final class PositionedRead extends Latency {
    private static final int FILE_BYTES = 64 << 20;
    private FSDataInputStream in;
    private final byte[] buffer = new byte[4096];

    PositionedRead() {
      super("pread of 4 KiB", 20000);
    }

    @Override
    public void prepare(BenchCandidate candidate, int round) throws Exception {
      super.prepare(candidate, round);
      FileSystem fs = candidate.fs();
      Path path = child(candidate, "f", 0);
      byte[] block = new byte[1 << 20];
      new Random(round).nextBytes(block);
      try (FSDataOutputStream file = fs.create(path)) {
        for (int i = 0; i < FILE_BYTES / block.length; i++) {
          file.write(block);
        }
      }
      in = fs.open(path);
    }

    @Override
    public void run(BenchCandidate candidate, int round) throws IOException {
      Random random = new Random(round);
      for (int i = 0; i < batch(); i++) {
        in.readFully(random.nextInt(FILE_BYTES / 4096) * 4096L, buffer);
      }
    }

    @Override
    public void finish(BenchCandidate candidate, int round) throws Exception {
      in.close();
      super.finish(candidate, round);
    }
  }
}
