package io.takofs.hadoop.internal;

import io.takofs.client.PathStatus;
import java.net.URI;
import java.util.function.Function;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;

/** Converts the client's statuses to Hadoop's. */
final class Statuses {
  /** Most blocks reported for one file: as many as a file of HDFS may have. */
  static final int BLOCKS_MAX = 10_000;

  private Statuses() {}

  /** The status of {@code path}, which is qualified. */
  static TakoFileStatus of(Path path, PathStatus status) {
    return new TakoFileStatus(path, status);
  }

  /** A status whose path {@code paths} makes from its name on first use. */
  static TakoFileStatus of(Function<String, Path> paths, PathStatus status) {
    return new TakoFileStatus(paths, status);
  }

  /** {@code status} with the places of its data. */
  static LocatedFileStatus located(TakoFileStatus status, URI server) {
    BlockLocation[] locations =
        status.isDirectory() ? null : blocks(status, 0, Math.max(1, status.getLen()), server);
    return new TakoLocatedFileStatus(status, locations);
  }

  /**
   * The file's block size, or the multiple of it with which a file of many tiny blocks has no more
   * than {@link #BLOCKS_MAX}.
   */
  private static long toldBlockSize(FileStatus status) {
    long blockSize = Math.max(1, status.getBlockSize());
    long blocks = (status.getLen() - 1) / blockSize + 1;
    return blockSize * ((blocks - 1) / BLOCKS_MAX + 1);
  }

  /**
   * The locations of bytes {@code start} to {@code start + length}: all on the server, in blocks
   * because Hadoop makes its input splits of them.
   */
  static BlockLocation[] blocks(FileStatus status, long start, long length, URI server) {
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException(
          status.getPath() + ": invalid range: start " + start + ", length " + length);
    }
    long end = start + Math.min(length, status.getLen() - start);
    if (status.isDirectory() || start >= end) {
      return new BlockLocation[0];
    }
    String[] names = {server.getHost() + ":" + server.getPort()};
    String[] hosts = {server.getHost()};
    long blockSize = toldBlockSize(status);
    long first = start / blockSize;
    long last = (end - 1) / blockSize;
    BlockLocation[] blocks = new BlockLocation[(int) (last - first + 1)];
    for (int i = 0; i < blocks.length; i++) {
      long offset = (first + i) * blockSize;
      blocks[i] =
          new BlockLocation(names, hosts, offset, Math.min(blockSize, status.getLen() - offset));
    }
    return blocks;
  }
}
