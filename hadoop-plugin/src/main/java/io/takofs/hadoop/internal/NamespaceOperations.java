package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Directories, renames and deletes. Paths are qualified.
 *
 * <p>Thread rule: any thread.
 */
public final class NamespaceOperations {
  private final TakoClient client;

  NamespaceOperations(TakoClient client) {
    this.client = client;
  }

  /** Makes a directory; one that is there already is fine. */
  public void mkdirs(Path path, FsPermission permission, boolean createParents) throws IOException {
    try {
      client.mkdirs(
          PathNames.of(path),
          permission.toShort(),
          CreateModes.unmasked(permission),
          createParents);
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, path.toString());
    }
  }

  /** False when there was nothing. The root stays, whatever is asked. */
  public boolean delete(Path path, boolean recursive) throws IOException {
    if (path.isRoot()) {
      if (!recursive && Call.to(path, name -> client.list(name).hasNext())) {
        throw new PathIsNotEmptyDirectoryException(path.toString());
      }
      return false;
    }
    try {
      client.delete(PathNames.of(path), recursive);
      return true;
    } catch (TakoException e) {
      if (e.status() == Status.NOT_FOUND || e.status() == Status.NOT_A_DIRECTORY) {
        return false;
      }
      throw ErrorTranslation.translate(e, path.toString());
    }
  }

  /**
   * Renames as {@code FileSystem.rename(Path, Path)} must: into {@code target} when that is a
   * directory, and false instead of an error when the two paths do not allow it.
   */
  public boolean renameOrRefuse(Path source, Path target) throws IOException {
    String from = PathNames.of(source);
    String to = PathNames.of(target);
    try {
      if (from.equals(to)) {
        return !client.getStatus(from).directory();
      }
      return renameIntoOrTo(from, to);
    } catch (TakoException e) {
      if (isRefusal(e.status())) {
        return false;
      }
      throw ErrorTranslation.translate(e, source + " to " + target);
    }
  }

  private boolean renameIntoOrTo(String from, String to) throws IOException {
    try {
      if (!to.equals("/")) {
        client.rename(from, to, false);
        return true;
      }
    } catch (TakoException e) {
      if (e.status() != Status.ALREADY_EXISTS || !client.getStatus(to).directory()) {
        throw e;
      }
    }
    String name = from.substring(from.lastIndexOf('/'));
    client.rename(from, to.equals("/") ? name : to + name, false);
    return true;
  }

  private static boolean isRefusal(Status status) {
    return switch (status) {
      case NOT_FOUND,
          ALREADY_EXISTS,
          NOT_A_DIRECTORY,
          IS_A_DIRECTORY,
          NOT_EMPTY,
          INVALID_ARGUMENT ->
          true;
      default -> false;
    };
  }

  /**
   * Renames to exactly {@code target}, atomically also when something is replaced.
   *
   * @throws IOException an error for whatever does not fit, never false
   */
  public void rename(Path source, Path target, boolean overwrite) throws IOException {
    try {
      client.rename(PathNames.of(source), PathNames.of(target), overwrite);
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, source + " to " + target);
    }
  }
}
