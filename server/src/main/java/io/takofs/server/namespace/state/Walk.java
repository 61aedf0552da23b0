package io.takofs.server.namespace.state;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.Status;
import java.util.List;

/** The inodes found on a path: the root and those below it, in order. */
public record Walk(FilePath path, List<DirectoryEntry> found) {
  /** Whether the whole path exists. */
  public boolean isComplete() {
    return found.size() == path.depth() + 1;
  }

  /** The deepest entry that exists: the target itself when complete. */
  public DirectoryEntry last() {
    return found.get(found.size() - 1);
  }

  /** Path of {@link #last}. */
  public String lastPath() {
    return path.prefix(found.size() - 1);
  }

  /** Elements that do not exist. */
  public int missing() {
    return path.depth() + 1 - found.size();
  }

  /** The target; NOT_FOUND when the walk is not complete. */
  public DirectoryEntry target() throws TakoException {
    if (!isComplete()) {
      throw new TakoException(
          Status.NOT_FOUND,
          missing() == 1
              ? path + " does not exist"
              : "%s does not exist: there is no %s".formatted(path, path.prefix(found.size())));
    }
    return last();
  }

  /**
   * The directory that has or would have the target as its entry; NOT_FOUND when that is missing
   * too. The path is not the root.
   */
  public DirectoryEntry parent() throws TakoException {
    if (missing() > 1) {
      throw new TakoException(
          Status.NOT_FOUND,
          "%s cannot be made: its parent directory %s does not exist"
              .formatted(path, path.prefix(path.depth() - 1)));
    }
    return requireDirectory(found.get(path.depth() - 1));
  }

  /** Checks that {@code caller} may take the target, which exists, out of its directory. */
  public void requireRemovable(Caller caller) throws TakoException {
    Inode parent = parent().inode();
    Permissions.require(caller, parent, Permissions.WRITE, parentPath());
    Permissions.requireNotStuck(caller, parent, last().inode(), path.toString());
  }

  /** The deepest entry that exists, for making what is missing below it. */
  public DirectoryEntry deepestDirectory() throws TakoException {
    return requireDirectory(last());
  }

  /** Path of the parent. */
  public String parentPath() {
    return path.prefix(path.depth() - 1);
  }

  private DirectoryEntry requireDirectory(DirectoryEntry entry) throws TakoException {
    if (!entry.inode().directory) {
      throw new TakoException(
          Status.NOT_A_DIRECTORY, "%s: its parent is a file, not a directory".formatted(path));
    }
    return entry;
  }
}
