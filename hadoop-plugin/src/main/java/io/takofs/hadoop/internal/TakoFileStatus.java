package io.takofs.hadoop.internal;

import io.takofs.client.PathStatus;
import java.io.IOException;
import java.util.function.Function;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * A status with the identity of its file. Its path can be made on first use: that takes longer than
 * everything else, and many callers look at names or lengths only.
 *
 * <p>Thread rule: any thread, unless something is set.
 */
final class TakoFileStatus extends FileStatus implements FileIdentity.Holder {
  private static final long serialVersionUID = 1;

  private final FileIdentity identity;
  private final transient String name;

  /** Makes the path from {@link #name}; null once the path is set. */
  private transient volatile Function<String, Path> paths;

  /** The status of {@code path}, which is qualified. */
  TakoFileStatus(Path path, PathStatus status) {
    this(path, null, status);
  }

  /** A status whose path {@code paths} makes from its name, once, on any thread. */
  TakoFileStatus(Function<String, Path> paths, PathStatus status) {
    this(null, paths, status);
  }

  private TakoFileStatus(Path path, Function<String, Path> paths, PathStatus status) {
    super(
        status.length(),
        status.directory(),
        status.directory() ? 0 : status.replication(),
        status.directory() ? 0 : status.blockSize(),
        status.modificationTimeMs(),
        status.accessTimeMs(),
        FsPermission.createImmutable((short) status.permission()),
        status.owner(),
        status.group(),
        null,
        path,
        status.hasAcl(),
        false,
        false);
    this.identity = FileIdentity.of(status);
    this.name = status.name();
    this.paths = paths;
  }

  @Override
  public Path getPath() {
    if (paths != null) {
      makePath();
    }
    return super.getPath();
  }

  private synchronized void makePath() {
    Function<String, Path> pending = paths;
    if (pending != null) {
      super.setPath(pending.apply(name));
      paths = null;
    }
  }

  @Override
  public synchronized void setPath(Path path) {
    super.setPath(path);
    paths = null;
  }

  @Override
  public Path getSymlink() throws IOException {
    getPath(); // which the message names
    return super.getSymlink();
  }

  @Override
  public String toString() {
    getPath();
    return super.toString();
  }

  /**
   * Java's serialization: the function that makes the path is not serialized, so the path is made
   * first.
   */
  private Object writeReplace() {
    getPath();
    return this;
  }

  @Override
  public FileIdentity identity() {
    return identity;
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other); // by path, as Hadoop has it
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }
}
