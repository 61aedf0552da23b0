package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.InvalidPathHandleException;
import org.apache.hadoop.fs.Options.HandleOpt;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathHandle;

/**
 * References to files that stay valid when paths change.
 *
 * <p>Thread rule: any thread.
 */
public final class HandleOperations {
  private final TakoClient client;
  private final DataOperations data;

  HandleOperations(TakoClient client, DataOperations data) {
    this.client = client;
    this.data = data;
  }

  /**
   * A handle of the file that {@code status} is of; unless told, it may neither change nor move.
   */
  public static PathHandle handle(FileStatus status, HandleOpt... options) {
    if (!(status instanceof FileIdentity.Holder holder)) {
      throw new IllegalArgumentException(
          status.getPath() + ": a path handle needs a status that this file system gave");
    }
    if (status.isDirectory()) {
      throw new IllegalArgumentException(
          status.getPath() + " is a directory; path handles are for files");
    }
    Optional<HandleOpt.Data> content = HandleOpt.getOpt(HandleOpt.Data.class, options);
    Optional<HandleOpt.Location> place = HandleOpt.getOpt(HandleOpt.Location.class, options);
    return new TakoPathHandle(
        PathNames.of(status.getPath()),
        holder.identity(),
        content.isPresent() && content.get().allowChange(),
        place.isPresent() && place.get().allowChange());
  }

  /**
   * Opens the file of a handle.
   *
   * @throws InvalidPathHandleException when the file is gone, or is not as the handle wants it
   */
  public FSDataInputStream open(PathHandle handle, int bufferSize) throws IOException {
    TakoPathHandle wanted = TakoPathHandle.of(handle);
    FileIdentity file = wanted.file();
    TakoInputStream in;
    try {
      in =
          wanted.mayMove()
              ? client.openById(wanted.name(), file.parentId(), file.id())
              : client.open(wanted.name());
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND || e.status() == Status.NOT_A_DIRECTORY) {
        throw new InvalidPathHandleException(wanted.name() + " is gone", e);
      }
      throw ErrorTranslation.translate(e, wanted.name());
    }
    boolean same = in.fileId() == file.id() && in.fileVersion() == file.version();
    if (!same && !wanted.mayChange()) {
      in.close();
      throw new InvalidPathHandleException(
          wanted.name() + " has changed since the handle was made");
    }
    return data.wrap(new Path(wanted.name()), in, bufferSize);
  }
}
