package io.takofs.bench.hadoop;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;

/**
 * The servers of an HDFS that keep its namespace.
 *
 * <p>Thread rule: one thread.
 */
interface NameNodes {
  /** The file system's address. */
  URI uri();

  /** Adds what clients and DataNodes need to find them at that address. */
  void addTo(Configuration conf);

  /**
   * Adds what only they need.
   *
   * @param directory below which they store
   */
  void configure(Configuration site, Path directory);

  /** Formats and starts them, with the configuration that {@code daemons} has by now. */
  void start(HadoopDaemons daemons, Path directory) throws Exception;

  /**
   * Whether all of them run and clients are served, which it sees to.
   *
   * @throws IOException when one does not answer yet
   */
  boolean areReady() throws IOException;
}
