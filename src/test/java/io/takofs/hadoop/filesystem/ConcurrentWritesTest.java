package io.takofs.hadoop.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.hadoop.TestServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Threads that share a stream, as the write-ahead logs of databases do. */
class ConcurrentWritesTest {
  private static final int THREADS = 4;
  private static final int RECORDS = 500;

  /** Thread, number, and a filling that follows from both: a torn record shows. */
  private static byte[] record(int thread, int number) {
    byte[] record = new byte[8 + number % 300];
    ByteBuffer.wrap(record).putInt(thread).putInt(number);
    for (int i = 8; i < record.length; i++) {
      record[i] = (byte) (thread * 31 + number + i);
    }
    return record;
  }

  @Test
  void shouldKeepEachWriteWhole() throws Exception {
    Configuration conf = new Configuration();
    TestServer.configure(conf);
    FileSystem fs = FileSystem.get(conf);
    Path path = new Path("/concurrent-writes/log");
    ExecutorService writers = Executors.newFixedThreadPool(THREADS);
    try (FSDataOutputStream out = fs.create(path, true)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        running.add(
            writers.submit(
                () -> {
                  for (int number = 0; number < RECORDS; number++) {
                    out.write(record(thread, number));
                    if (number % 50 == 0) {
                      out.hflush();
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> writer : running) {
        writer.get();
      }
    } finally {
      writers.shutdown();
    }
    int[] next = new int[THREADS];
    try (FSDataInputStream in = fs.open(path)) {
      for (int i = 0; i < THREADS * RECORDS; i++) {
        int thread = in.readInt();
        int number = in.readInt();
        assertThat(number).as("next record of thread " + thread).isEqualTo(next[thread]++);
        byte[] expected = record(thread, number);
        byte[] rest = new byte[expected.length - 8];
        in.readFully(rest);
        assertThat(ByteBuffer.wrap(rest))
            .isEqualTo(ByteBuffer.wrap(expected, 8, rest.length).slice());
      }
      assertThat(in.read()).isEqualTo(-1);
    }
  }
}
