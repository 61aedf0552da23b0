package io.takofs.bench.compare;

import java.net.InetSocketAddress;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file system under test, or what limits one: plain memory, or a stream.
 *
 * @param name in the table: its kind, one of those below, of Tako with {@code @DIR} after it where
 *     DIR is another checkout, or {@code :1} where only one server has the namespace
 * @param fs the client; of memory, the file system that maps it; of a stream, any
 * @param base an empty or missing directory to work in
 * @param serverPids processes whose processor time counts as the server's; none for a local one
 * @param sender where the bytes of a stream come from; null for all others
 */
record BenchCandidate(
    String name, FileSystem fs, Path base, List<Long> serverPids, InetSocketAddress sender) {
  static final String HDFS = "hdfs";

  /** HDFS with two NameNodes and three JournalNodes. */
  static final String HDFS_HA = "hdfs-ha";

  static final String TAKO_SHM = "tako-shm";
  static final String TAKO_TCP = "tako-tcp";

  /** After the name of a Tako whose namespace has one member, with as many data servers. */
  static final String ONE_MEMBER = ":1";

  /** Hadoop's local file system on a tmpfs, without checksums. */
  static final String LOCAL = "local";

  /** Copies to and from a mapping of a tmpfs: the upper limit for transfers of 1 MiB. */
  static final String MEMORY = "memory";

  /** Each byte copied to three such mappings, by one thread: what three replicas cost at least. */
  static final String MEMORY_THREE_TIMES = "memory3";

  /**
   * One TCP connection of the loopback, with a process that sends: the upper limit of its reads.
   */
  static final String RAW_TCP = "raw-tcp";

  BenchCandidate(String name, FileSystem fs, Path base, List<Long> serverPids) {
    this(name, fs, base, serverPids, null);
  }

  /** Whether it has files, which memory and a stream have not. */
  boolean hasFiles() {
    return !(is(MEMORY) || is(MEMORY_THREE_TIMES) || is(RAW_TCP));
  }

  /** Whether it is HDFS, with however many NameNodes. */
  boolean isHdfs() {
    return is(HDFS) || is(HDFS_HA);
  }

  boolean is(String kind) {
    return kindOf(name).equals(kind);
  }

  /** The candidate's kind, without the name of its servers. */
  static String kindOf(String name) {
    return name.replaceFirst("^(tako-[^@:]*)[@:].*", "$1");
  }

  /** The other checkout that it is of, or {@link #ONE_MEMBER}; an empty string for neither. */
  static String serversOf(String name) {
    return name.substring(kindOf(name).length()).replaceFirst("^@", "");
  }
}
