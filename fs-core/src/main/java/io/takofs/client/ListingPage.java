package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.file.PathParts;
import io.takofs.proto.Listing;
import io.takofs.rpc.ListingReader;

/**
 * One page of a directory's entries.
 *
 * <p>Thread rule: one thread.
 */
final class ListingPage {
  private final String path;
  private final ListingReader entries;

  /** A page of what is at {@code path}. */
  ListingPage(String path, Listing listing) {
    this.path = path;
    this.entries = new ListingReader(listing);
  }

  boolean hasNext() throws TakoException {
    return entries.hasNext();
  }

  /** Whether another page may follow. */
  boolean more() {
    return entries.more();
  }

  /** Name of what {@link #next} returned last. */
  String lastName() {
    return entries.name();
  }

  PathStatus next() throws TakoException {
    entries.next();
    String name = entries.name();
    boolean itself = name.isEmpty(); // a file that was listed
    return new PathStatus(
        itself ? PathParts.parentOf(path) : path,
        itself ? PathParts.nameOf(path) : name,
        entries.parentId(),
        entries.id(),
        entries.directory(),
        entries.length(),
        entries.permission(),
        entries.owner(),
        entries.group(),
        entries.modificationTimeMs(),
        entries.accessTimeMs(),
        entries.replication(),
        entries.blockSize(),
        entries.underConstruction(),
        entries.version(),
        entries.hasAcl());
  }
}
