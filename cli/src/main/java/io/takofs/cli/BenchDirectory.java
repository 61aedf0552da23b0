package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;

/**
 * A directory that goes with the command that made it, also when that is interrupted.
 *
 * <p>Thread rule: one thread, and the one that ends the process.
 */
final class BenchDirectory implements AutoCloseable {
  private final TakoClient client;
  private final String path;
  private final Thread interrupted = new Thread(this::remove, "tako-bench-remove");

  /** Makes it. */
  BenchDirectory(TakoClient client, String parent) throws TakoException {
    this.client = client;
    this.path =
        (parent.equals("/") ? "" : parent)
            + "/.tako-bench-"
            + ProcessHandle.current().pid()
            + "-"
            + Long.toHexString(System.currentTimeMillis());
    client.mkdirs(path, 0700, false);
    Runtime.getRuntime().addShutdownHook(interrupted);
  }

  String path() {
    return path;
  }

  @Override
  public void close() {
    remove();
    try {
      Runtime.getRuntime().removeShutdownHook(interrupted);
    } catch (IllegalStateException ending) {
      // The hook runs already, and finds nothing to do.
    }
  }

  private void remove() {
    try {
      client.delete(path, true);
    } catch (TakoException e) {
      if (e.status() != Status.NOT_FOUND) {
        System.err.println("tako: " + path + " is not removed: " + e.getMessage());
      }
    }
  }
}
