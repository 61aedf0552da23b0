package io.takofs.hadoop;

import io.takofs.hadoop.internal.FileSystemOperations;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file system with operations to delegate to. Subclasses add what newer versions of Hadoop have;
 * all are public, else the compiler would repeat their methods in {@link TakoFileSystem}.
 */
public abstract class BaseApi extends FileSystem {
  /** The operations, for one that changes nothing. */
  abstract FileSystemOperations reading() throws IOException;

  /** The operations, for one that changes something. */
  abstract FileSystemOperations writing() throws IOException;

  /** {@code path} with this file system's scheme, host and working directory. */
  abstract Path qualified(Path path);
}
