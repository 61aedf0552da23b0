package io.takofs.bench.compare;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalFileSystem;

/**
 * Hadoop's local file system without its checksums, for jobs: they insist on this class where the
 * raw one would do.
 */
final class PlainLocalFileSystem extends LocalFileSystem {
  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setWriteChecksum(false);
    setVerifyChecksum(false);
  }
}
