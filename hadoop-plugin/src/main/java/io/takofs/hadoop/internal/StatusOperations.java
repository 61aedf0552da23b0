package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.security.AccessControlException;

/**
 * Read-only queries: statuses, listings, block locations, summaries. Paths are qualified, except
 * for {@link #status}.
 *
 * <p>Thread rule: any thread.
 */
public final class StatusOperations {
  private final TakoClient client;
  private final URI uri;

  StatusOperations(TakoClient client, URI uri) {
    this.client = client;
    this.uri = uri;
  }

  /**
   * The status of a path.
   *
   * @param path absolute; need not be qualified: qualifying parses a URI again, and many callers
   *     never use the path of the status
   */
  public FileStatus status(Path path) throws IOException {
    return Call.to(
        path, name -> Statuses.of(last -> path.makeQualified(uri, null), client.getStatus(name)));
  }

  public FileStatus[] list(Path path) throws IOException {
    List<FileStatus> entries = new ArrayList<>();
    RemoteIterator<FileStatus> listing = iterate(path);
    while (listing.hasNext()) {
      entries.add(listing.next());
    }
    return entries.toArray(new FileStatus[0]);
  }

  /** The entries of a directory, or the file itself; one call a page. */
  public RemoteIterator<FileStatus> iterate(Path path) throws IOException {
    DirectoryIterator entries = Call.to(path, client::list);
    String directory = PathNames.of(path);
    Function<String, Path> children = new ChildPaths(path)::of;
    return new RemoteIterator<>() {
      @Override
      public boolean hasNext() throws IOException {
        try {
          return entries.hasNext();
        } catch (TakoException e) {
          throw ErrorTranslation.translateLookup(e, path.toString());
        }
      }

      @Override
      public FileStatus next() throws IOException {
        if (!hasNext()) {
          throw new NoSuchElementException("no more entries in " + path);
        }
        PathStatus entry = entries.next();
        boolean child =
            entry.parent().equals(directory); // else it is a file that was listed itself
        return child ? Statuses.of(children, entry) : Statuses.of(path, entry);
      }
    };
  }

  /**
   * Like {@link #iterate}, for the entries that {@code filter} accepts, with block locations; takes
   * no further call while the server is alone, else one a file.
   */
  public RemoteIterator<LocatedFileStatus> iterateLocated(Path path, PathFilter filter)
      throws IOException {
    RemoteIterator<FileStatus> entries = iterate(path);
    return new RemoteIterator<>() {
      private TakoFileStatus next;

      @Override
      public boolean hasNext() throws IOException {
        while (next == null && entries.hasNext()) {
          TakoFileStatus entry = (TakoFileStatus) entries.next();
          next = filter.accept(entry.getPath()) ? entry : null;
        }
        return next != null;
      }

      @Override
      public LocatedFileStatus next() throws IOException {
        if (!hasNext()) {
          throw new NoSuchElementException("no more entries in " + path);
        }
        BlockLocation[] locations =
            next.isDirectory() ? null : blocks(next, 0, Math.max(1, next.getLen()));
        LocatedFileStatus located = Statuses.located(next, locations);
        next = null;
        return located;
      }
    };
  }

  /**
   * The locations of bytes {@code start} to {@code start + length}, by Hadoop's blocks: the servers
   * that have replicas, those with most of a block's bytes first.
   */
  public BlockLocation[] blocks(FileStatus status, long start, long length) throws IOException {
    BlockLocation[] alone = Statuses.blocks(status, start, length, uri);
    if (alone.length == 0) {
      return alone;
    }
    return Call.to(
        status.getPath(),
        name -> {
          if (client.isAlone()) {
            return alone;
          }
          try {
            long blockSize = Statuses.toldBlockSize(status);
            long count = Math.min(length, status.getLen() - start);
            return Statuses.blocks(client.blockPlaces(name, start, count, blockSize), uri);
          } catch (TakoException e) {
            if (e.status() == Status.NOT_FOUND || e.status() == Status.PERMISSION_DENIED) {
              return alone; // a listing goes on all the same
            }
            throw e;
          }
        });
  }

  public FsStatus usage() throws IOException {
    io.takofs.client.Usage usage = Call.to(new Path(uri), name -> client.usage());
    return new FsStatus(usage.capacity(), usage.used(), usage.free());
  }

  /**
   * Checks that the client's user may access {@code path} with {@code mode}; the server decides.
   *
   * @throws AccessControlException when not
   */
  public void access(Path path, FsAction mode) throws IOException {
    Call.to(
        path,
        name -> {
          client.checkAccess(name, AccessBits.of(mode));
          return null;
        });
  }
}
