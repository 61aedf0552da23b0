package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.proto.List;
import io.takofs.proto.Request;
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
  private ListingPage page;
  private String last = "";

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
    page = new ListingPage(path, session.call("list", path, request).getListing());
  }

  /** Whether {@link #next} has another entry; may fetch a page. */
  public boolean hasNext() throws TakoException {
    if (!page.hasNext() && page.more()) {
      last = page.lastName();
      fetch();
    }
    return page.hasNext();
  }

  /** The next entry. */
  public PathStatus next() throws TakoException {
    if (!hasNext()) {
      throw new NoSuchElementException("no more entries in " + path);
    }
    return page.next();
  }
}
