package org.apache.hadoop.fs.viewfs;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;

/** File systems that a suite leaves in Hadoop's cache: its default file system is a mount table. */
final class CachedClients {
  private CachedClients() {}

  /** Closes them all. */
  static void close() {
    try {
      FileSystem.closeAll();
    } catch (IOException e) {
      // A suite leaves a file open that it has deleted: closing it says so.
    }
  }
}
