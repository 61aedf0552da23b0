package io.takofs.server.pool;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;

/**
 * The sizes of the zones of a pool, bytes: pages hold the namespace, the log what is not yet in a
 * checkpoint, data the files. All begin and end on huge pages. The slab zone's size follows from
 * that of the data.
 *
 * @param pages page zone, a multiple of 2 MiB, at least {@link #PAGES_MIN}
 * @param log log zone, a multiple of a segment, at least {@link #LOG_MIN}
 * @param data all arenas, a multiple of 2 MiB, at least {@link #DATA_MIN}; only the last arena is
 *     shorter than 1 GiB
 */
public record PoolSizes(long pages, long log, long data) {
  private static final long MIB = 1 << 20;

  /** Less would not hold a page for each shard beside those a checkpoint keeps. */
  public static final long PAGES_MIN = 8 * MIB;

  /** One segment to append to and one that waits for a checkpoint. */
  public static final long LOG_MIN = 2L * Layout.SEGMENT_SIZE;

  /** An arena of checksums and one largest extent. */
  public static final long DATA_MIN = Layout.ARENA_CHECKSUM_SIZE + Layout.EXTENT_SIZE_MAX;

  /** Segments of a log at least, where nothing else is said. */
  public static final int SEGMENTS_MIN = 3;

  private static final long LOG_COMPUTED_MAX = 256 * MIB;

  /** Addresses within the pool must fit what extents and pages can name. */
  private static final long TOTAL_MAX = 1L << 44;

  /**
   * Divides {@code total} bytes: first 2 MiB for the superblock, then pages, then log, the rest for
   * data and its slab zone.
   *
   * @param pages bytes, rounded up to 2 MiB; 0 for a sixteenth of the total, at least 8 MiB
   * @param log bytes, rounded up to segments; 0 for a sixteenth of the total, at most 256 MiB
   * @param segmentsMin of the log, when its bytes are not given
   * @throws TakoException INVALID_ARGUMENT when the total is too small, or a part of it is
   */
  public static PoolSizes divide(long total, long pages, long log, int segmentsMin)
      throws TakoException {
    if (total > TOTAL_MAX) {
      throw invalid("a pool of " + total + " bytes is too large: the most is " + TOTAL_MAX);
    }
    long forPages =
        pages == 0
            ? Math.max(PAGES_MIN, down(total / 16, Layout.POOL_ALIGN))
            : up(pages, Layout.POOL_ALIGN);
    long forLog =
        log == 0
            ? Math.min(
                LOG_COMPUTED_MAX,
                Math.max(
                    (long) segmentsMin * Layout.SEGMENT_SIZE,
                    down(total / 16, Layout.SEGMENT_SIZE)))
            : up(log, Layout.SEGMENT_SIZE);
    long rest = down(total - Layout.POOL_ALIGN - forPages - forLog, Layout.POOL_ALIGN);
    long data = rest - slabZone(Math.max(rest, DATA_MIN));
    if (data < DATA_MIN) {
      throw invalid(
          "a pool of "
              + total
              + " bytes is too small: "
              + forPages
              + " for pages and "
              + forLog
              + " for the log leave no room for data; the least is "
              + (Layout.POOL_ALIGN + forPages + forLog + slabZone(DATA_MIN) + DATA_MIN)
              + " (fs.tako.server.pool.size)");
    }
    return new PoolSizes(forPages, forLog, data).checked();
  }

  /** Bytes of both files together. */
  long total() {
    return metaLength() + data;
  }

  /** Bytes of the file of superblock, pages, log and slabs. */
  long metaLength() {
    return slabOffset() + slabs();
  }

  long pageOffset() {
    return Layout.POOL_ALIGN;
  }

  long logOffset() {
    return Layout.POOL_ALIGN + pages;
  }

  long slabOffset() {
    return logOffset() + log;
  }

  /** Bytes of the slab zone. */
  long slabs() {
    return slabZone(data);
  }

  /** Arenas are whole slabs, so that only the last slab of the data is short. */
  private static long slabZone(long data) {
    long slabs = up(data, Layout.SLAB_SIZE) / Layout.SLAB_SIZE;
    long slotsOfPage = Layout.POOL_ALIGN / Layout.SLAB_SLOT_SIZE;
    return up(slabs, slotsOfPage) / slotsOfPage * Layout.POOL_ALIGN;
  }

  int arenas() {
    return (int) ((data + Layout.ARENA_SIZE - 1) / Layout.ARENA_SIZE);
  }

  long arenaLength(int arena) {
    return Math.min(Layout.ARENA_SIZE, data - (long) arena * Layout.ARENA_SIZE);
  }

  /** These sizes, if a pool can have them. */
  PoolSizes checked() throws TakoException {
    check("page zone", pages, PAGES_MIN, Layout.POOL_ALIGN);
    check("log zone", log, LOG_MIN, Layout.SEGMENT_SIZE);
    check("data zone", data, DATA_MIN, Layout.POOL_ALIGN);
    return this;
  }

  private static void check(String zone, long length, long min, long multiple)
      throws TakoException {
    if (length < min || length > TOTAL_MAX || length % multiple != 0) {
      throw invalid(
          zone
              + " of "
              + length
              + " bytes: it must be at least "
              + min
              + ", at most "
              + TOTAL_MAX
              + " and a multiple of "
              + multiple);
    }
  }

  private static long up(long length, long multiple) {
    return down(length + multiple - 1, multiple);
  }

  private static long down(long length, long multiple) {
    return length / multiple * multiple;
  }

  private static TakoException invalid(String message) {
    return new TakoException(Status.INVALID_ARGUMENT, message);
  }
}
