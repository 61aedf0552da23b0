package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.FileInfo;
import io.takofs.proto.List;
import io.takofs.proto.Listing;
import io.takofs.proto.Request;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The entries of a directory in the order of their names' UTF-8 bytes, fetched page by page. An
 * entry that exists all the while is returned exactly once.
 *
 * <p>Thread rule: one thread.
 */
public final class DirectoryIterator {
  private static final int PAGE = 1000;

  private final Session session;
  private final String path;
  private Iterator<FileInfo> page;
  private String last = "";
  private boolean more;

  /** Fetches the first page, so that a path that cannot be listed fails here. */
  DirectoryIterator(Session session, String path) throws TakoException {
    this.session = session;
    this.path = path;
    fetch();
  }

  private void fetch() throws TakoException {
    Request.Builder request =
        Request.newBuilder()
            .setList(List.newBuilder().setPath(path).setStartAfter(last).setLimit(PAGE));
    Listing listing = session.call("list", path, request).getListing();
    page = listing.getEntriesList().iterator();
    // A page with no entries is the last, whatever it says: asking again would give it again.
    more = listing.getMore() && page.hasNext();
  }

  /** Whether {@link #next} has another entry; may fetch a page. */
  public boolean hasNext() throws TakoException {
    if (!page.hasNext() && more) {
      fetch();
    }
    return page.hasNext();
  }

  /** The next entry. */
  public PathStatus next() throws TakoException {
    if (!hasNext()) {
      throw new NoSuchElementException("no more entries in " + path);
    }
    FileInfo entry = page.next();
    last = entry.getName();
    return PathStatus.of(path.equals("/") ? "/" + last : path + "/" + last, entry);
  }
}
