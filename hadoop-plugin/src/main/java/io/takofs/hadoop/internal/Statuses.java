package io.takofs.hadoop.internal;

import io.takofs.client.BlockPlaces;
import io.takofs.client.PathStatus;
import io.takofs.config.ServerList;
import java.net.URI;
import java.util.List;
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

  /** {@code status} with the places of its data; null of a directory. */
  static LocatedFileStatus located(TakoFileStatus status, BlockLocation[] locations) {
    return new TakoLocatedFileStatus(status, locations);
  }

  /** The locations of blocks of {@code status} that {@code server} told of. */
  static BlockLocation[] blocks(List<BlockPlaces> blocks, URI server) {
    BlockLocation[] locations = new BlockLocation[blocks.size()];
    for (int i = 0; i < locations.length; i++) {
      locations[i] = location(blocks.get(i), server);
    }
    return locations;
  }

  private static BlockLocation location(BlockPlaces block, URI server) {
    List<BlockPlaces.Host>
        hosts = // of a block there is one replica for each, as Hadoop counts them
        block.hosts().subList(0, Math.min(block.copies(), block.hosts().size()));
    if (hosts.isEmpty()) { // in the metadata of a server that is alone
      String[] names = {server.getHost() + ":" + server.getPort()};
      String[] host = {server.getHost()};
      return new BlockLocation(names, host, block.offset(), block.length());
    }
    String[] names = new String[hosts.size()];
    String[] hostNames = new String[names.length];
    String[] topologyPaths = new String[names.length];
    for (int i = 0; i < names.length; i++) {
      BlockPlaces.Host host = hosts.get(i);
      names[i] = ServerList.address(host.host(), host.port());
      hostNames[i] = host.host();
      topologyPaths[i] = host.rack() + "/" + names[i];
    }
    return new BlockLocation(names, hostNames, topologyPaths, block.offset(), block.length());
  }

  /**
   * The file's block size, or the multiple of it with which a file of many tiny blocks has no more
   * than {@link #BLOCKS_MAX}.
   */
  static long toldBlockSize(FileStatus status) {
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
