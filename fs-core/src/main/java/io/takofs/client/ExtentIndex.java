package io.takofs.client;

import java.util.List;
import java.util.TreeMap;

/**
 * The known extents of one version of a file, by position.
 *
 * <p>Thread rule: immutable, any thread.
 */
final class ExtentIndex {
  static final ExtentIndex EMPTY = new ExtentIndex(new ExtentView[0]);

  private final ExtentView[] extents;

  private ExtentIndex(ExtentView[] extents) {
    this.extents = extents;
  }

  /** How many extents are known. */
  int size() {
    return extents.length;
  }

  /** Those of this and {@code more}, which win. */
  ExtentIndex with(List<ExtentView> more) {
    TreeMap<Long, ExtentView> all = new TreeMap<>();
    for (ExtentView extent : extents) {
      all.put(extent.start(), extent);
    }
    for (ExtentView extent : more) {
      all.put(extent.start(), extent);
    }
    return new ExtentIndex(all.values().toArray(new ExtentView[0]));
  }

  /** The extent that holds the byte at {@code position}; null when it is not known. */
  ExtentView find(long position) {
    int low = 0;
    int high = extents.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      ExtentView extent = extents[middle];
      if (position < extent.start()) {
        high = middle - 1;
      } else if (position >= extent.end()) {
        low = middle + 1;
      } else {
        return extent;
      }
    }
    return null;
  }
}
