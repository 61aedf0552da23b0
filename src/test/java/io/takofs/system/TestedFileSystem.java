package io.takofs.system;

import java.io.IOException;
import java.net.URI;

/** A running file system under test. */
public interface TestedFileSystem extends AutoCloseable {
  /** The URI by which clients find it. */
  URI uri();

  @Override
  void close() throws IOException;
}
