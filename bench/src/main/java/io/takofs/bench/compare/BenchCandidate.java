package io.takofs.bench.compare;

import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file system under test, or plain memory.
 *
 * @param name in the table: its kind, one of those below, of Tako with {@code @DIR} after it where
 *     DIR is another checkout
 * @param fs the client; of memory, the file system that maps it
 * @param base an empty or missing directory to work in
 * @param serverPids processes whose processor time counts as the server's; none for a local one
 */
record BenchCandidate(String name, FileSystem fs, Path base, List<Long> serverPids) {
  static final String HDFS = "hdfs";
  static final String TAKO_SHM = "tako-shm";
  static final String TAKO_TCP = "tako-tcp";

  /** Hadoop's local file system on a tmpfs, without checksums. */
  static final String LOCAL = "local";

  /** Copies to and from a mapping of a tmpfs: the upper limit for transfers of 1 MiB. */
  static final String MEMORY = "memory";

  boolean is(String kind) {
    return kindOf(name).equals(kind);
  }

  /** The candidate's kind, without the name of its checkout. */
  static String kindOf(String name) {
    return name.replaceFirst("^(tako-[^@]*)@.*", "$1");
  }

  /** The other checkout that it is of; an empty string for none. */
  static String checkoutOf(String name) {
    return name.substring(kindOf(name).length()).replaceFirst("@", "");
  }
}
