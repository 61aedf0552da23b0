package io.takofs.bench.clusters;

import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import io.takofs.hadoop.TakoFileSystem;
import io.takofs.proto.ClusterStatus;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Files with two copies on three servers, and a client of them.
 *
 * <p>Thread rule: one thread; {@link #status} and {@link #writeAndRead} one more each.
 */
final class RepairFiles implements AutoCloseable {
  static final int SERVERS = 3;
  static final int MEBIBYTE = 1 << 20;

  private static final Path DIRECTORY = new Path("/repair");
  private static final int COPIES = 2;
  private static final int FILE_MEBIBYTES = 64;

  private final FileSystem fs;
  private final TakoClient client;
  private final int mebibytes;
  private final byte[] block = new byte[MEBIBYTE];
  private final Random random = new Random(1);

  /**
   * No files yet.
   *
   * @param perServer MiB of copies that each server shall keep
   */
  RepairFiles(URI uri, String transport, int perServer) throws IOException {
    mebibytes = perServer * SERVERS / COPIES;
    Configuration conf = new Configuration();
    conf.set("fs.tako.impl", TakoFileSystem.class.getName());
    conf.set("fs.tako.transport", transport);
    conf.setInt("fs.tako.replication", COPIES);
    fs = FileSystem.newInstance(uri, conf);
    client = TakoClient.connect(uri, new TakoConfig(), System.getProperty("user.name"));
  }

  @Override
  public void close() throws IOException {
    client.close();
    fs.close();
  }

  /** Tells how the cluster is. */
  ClusterStatus status() throws IOException {
    return client.administration().clusterStatus();
  }

  /**
   * Writes them, with other bytes than the last time: a copy is made only where the right bytes are
   * not there yet.
   */
  void write() throws IOException {
    random.nextBytes(block);
    for (int written = 0; written < mebibytes; written += FILE_MEBIBYTES) {
      write(file(written), sizeOf(written), () -> {});
    }
  }

  /** Deletes them. */
  void delete() throws IOException {
    fs.delete(DIRECTORY, true);
  }

  /**
   * Reads all of them.
   *
   * @throws IOException when a byte is not what was written
   */
  void verify() throws IOException {
    for (int read = 0; read < mebibytes; read += FILE_MEBIBYTES) {
      read(file(read), sizeOf(read), ByteBuffer.wrap(block)::equals, () -> {});
    }
  }

  /**
   * Writes a file of 64 MiB beside them, and reads it.
   *
   * @param moved runs after each MiB, written or read
   */
  void writeAndRead(Runnable moved) throws IOException {
    Path beside = new Path("/beside");
    write(beside, FILE_MEBIBYTES, moved);
    read(beside, FILE_MEBIBYTES, bytes -> true, moved);
  }

  private void write(Path file, int size, Runnable moved) throws IOException {
    try (FSDataOutputStream out = fs.create(file)) {
      for (int i = 0; i < size; i++) {
        out.write(block);
        moved.run();
      }
    }
  }

  private void read(Path file, int size, Predicate<ByteBuffer> expected, Runnable moved)
      throws IOException {
    ByteBuffer target = ByteBuffer.allocateDirect(MEBIBYTE);
    try (FSDataInputStream in = fs.open(file)) {
      for (int i = 0; i < size; i++) {
        target.clear();
        while (target.hasRemaining() && in.read(target) >= 0) {
          // Each read takes as many bytes as there are.
        }
        if (target.flip().remaining() < MEBIBYTE || !expected.test(target)) {
          throw new IOException(file + " has other bytes than were written in MiB " + i);
        }
        moved.run();
      }
    }
  }

  private int sizeOf(int first) {
    return Math.min(FILE_MEBIBYTES, mebibytes - first);
  }

  private static Path file(int first) {
    return new Path(DIRECTORY, "f" + first / FILE_MEBIBYTES);
  }
}
