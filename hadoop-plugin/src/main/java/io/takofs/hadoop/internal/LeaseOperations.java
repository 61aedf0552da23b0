package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * Leases of files open for writing. Paths are qualified.
 *
 * <p>Thread rule: any thread.
 */
public final class LeaseOperations {
  private final TakoClient client;

  LeaseOperations(TakoClient client) {
    this.client = client;
  }

  /**
   * Closes a file that a client has open for writing, at its flushed length.
   *
   * @return true: the file is closed
   * @throws FileNotFoundException when there is no file at {@code path}, in HDFS's words
   */
  public boolean recover(Path path) throws IOException {
    return onFile(
        path,
        name -> {
          client.recoverLease(name);
          return true;
        });
  }

  /** Returns true if the file is not open for writing. */
  public boolean isClosed(Path path) throws IOException {
    return onFile(path, name -> !client.getFileStatus(name).underConstruction());
  }

  private static <T> T onFile(Path path, Call<T> call) throws IOException {
    try {
      return call.on(PathNames.of(path));
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND || e.status() == Status.NOT_A_DIRECTORY) {
        throw noFile("File does not exist: " + path, e);
      }
      if (e.status() == Status.IS_A_DIRECTORY) {
        throw noFile("Path is not a file: " + path, e);
      }
      throw ErrorTranslation.translate(e, path.toString());
    }
  }

  private static IOException noFile(String message, TakoException cause) {
    IOException exception = new FileNotFoundException(message);
    exception.initCause(cause);
    return exception;
  }
}
