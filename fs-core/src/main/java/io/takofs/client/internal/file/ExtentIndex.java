package io.takofs.client.internal.file;

import java.util.ArrayList;
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

  /** The one with the lowest position; null when none is known. */
  ExtentView first() {
    return extents.length == 0 ? null : extents[0];
  }

  /** Number of known extents. */
  int size() {
    return extents.length;
  }

  /** Merges this index with {@code more}, whose extents replace overlapping ones. */
  ExtentIndex with(List<ExtentView> more) {
    TreeMap<Long, ExtentView> all = new TreeMap<>();
    for (ExtentView extent : extents) {
      all.put(extent.start(), extent);
    }
    for (ExtentView extent : more) {
      // One that is the same keeps its checksums.
      all.merge(
          extent.start(),
          extent,
          (known, now) -> known.extent().equals(now.extent()) ? known : now);
    }
    return new ExtentIndex(all.values().toArray(new ExtentView[0]));
  }

  /** The extent that holds the byte at {@code position}; null when it is not known. */
  ExtentView find(long position) {
    int index = indexOf(position);
    return index < 0 ? null : extents[index];
  }

  /**
   * The extent that holds the byte at {@code position} and those after it without a gap, {@code
   * count} at most; none when it is not known.
   */
  List<ExtentView> from(long position, int count) {
    List<ExtentView> run = new ArrayList<>();
    long next = position;
    for (int index = indexOf(position);
        index >= 0 && index < extents.length && run.size() < count;
        index++) {
      if (extents[index].start() > next) {
        break;
      }
      run.add(extents[index]);
      next = extents[index].end();
    }
    return run;
  }

  private int indexOf(long position) {
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
        return middle;
      }
    }
    return -1;
  }
}
