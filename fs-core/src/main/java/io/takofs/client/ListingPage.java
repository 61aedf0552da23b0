package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.Listing;
import io.takofs.proto.Status;
import java.util.BitSet;

/**
 * One page of a directory's entries, as columns.
 *
 * <p>Thread rule: immutable.
 */
final class ListingPage {
  private final String path;
  private final Listing listing;
  private final BitSet withAcl = new BitSet();

  /**
   * A page.
   *
   * @param path that was listed
   * @throws TakoException MALFORMED when the columns do not fit each other
   */
  ListingPage(String path, Listing listing) throws TakoException {
    this.path = path;
    this.listing = listing;
    int size = size();
    boolean whole =
        listing.getDirectoriesCount() == size
            && listing.getUnderConstructionCount() == size
            && listing.getIdsCount() == size
            && listing.getLengthsCount() == size
            && listing.getPermissionsCount() == size
            && listing.getOwnersCount() == size
            && listing.getGroupsCount() == size
            && listing.getModificationTimesMsCount() == size
            && listing.getAccessTimesMsCount() == size
            && listing.getReplicationsCount() == size
            && listing.getBlockSizesCount() == size
            && listing.getVersionsCount() == size;
    if (!whole) {
      throw new TakoException(
          Status.MALFORMED, "list " + path + ": the server's columns are of different lengths");
    }
    for (int entry : listing.getWithAclList()) {
      if (entry < 0 || entry >= size) {
        throw new TakoException(
            Status.MALFORMED, "list %s: entry %d of %d has an ACL".formatted(path, entry, size));
      }
      withAcl.set(entry);
    }
  }

  int size() {
    return listing.getNamesCount();
  }

  /** Whether another page may follow. */
  boolean more() {
    // A page with no entries is the last, whatever it says: asking again would give it again.
    return listing.getMore() && size() > 0;
  }

  String name(int entry) {
    return listing.getNames(entry);
  }

  PathStatus get(int entry) {
    String name = name(entry);
    boolean itself = name.isEmpty(); // a file that was listed
    return new PathStatus(
        itself ? PathStatus.parentOf(path) : path,
        itself ? PathStatus.nameOf(path) : name,
        listing.getParentId(),
        listing.getIds(entry),
        listing.getDirectories(entry),
        listing.getLengths(entry),
        listing.getPermissions(entry),
        listing.getPrincipals(listing.getOwners(entry)),
        listing.getPrincipals(listing.getGroups(entry)),
        listing.getModificationTimesMs(entry),
        listing.getAccessTimesMs(entry),
        listing.getReplications(entry),
        listing.getBlockSizes(entry),
        listing.getUnderConstruction(entry),
        listing.getVersions(entry),
        withAcl.get(entry));
  }
}
