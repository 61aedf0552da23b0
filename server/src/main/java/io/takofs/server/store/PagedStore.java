package io.takofs.server.store;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import java.util.BitSet;
import java.util.zip.CRC32C;

/**
 * The store on a page zone: a copy-on-write B+tree a map, checkpoints that cost what changed.
 *
 * <p>A checkpoint is the roots of all trees, in pages 0 and 1. To take one: no page that it has is
 * written any more; each page changed since the last one gets its CRC; then the two copies of the
 * roots are replaced, one after the other; then the pages that only the last checkpoint had are
 * free. A crash at any point finds the roots of a finished checkpoint and all its pages untouched.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class PagedStore implements Store {
  /** Pages before this hold the checkpoint. */
  static final int FIRST_PAGE = 2;

  /** Number of the tree of {@link #summary}. */
  static final int SUMMARY = SHARDS + 1;

  private static final String START_ANEW =
      "the namespace cannot be read whole, remove the pool's directory and start with --format for"
          + " an empty one";

  private final PageMemory memory;
  private final PageAllocator pages;
  private final Tree[] trees = new Tree[Layout.STORE_TREES];
  private final CRC32C crc = new CRC32C();

  private Summarizer summarizer = () -> {};
  private Checkpoint last;
  private Checkpoint frozen;

  PagedStore(PageMemory memory, Checkpoint last, PageAllocator pages) {
    this.memory = memory;
    this.pages = pages;
    this.last = last;
    PageBuilder builder = new PageBuilder();
    for (int tree = 0; tree < trees.length; tree++) {
      trees[tree] = new Tree(tree, pages, builder, last.roots()[tree]);
    }
  }

  /** Makes {@code zone} an empty store. */
  public static void format(MappedMemory zone) {
    format(PageMemory.of(zone));
  }

  static void format(PageMemory memory) {
    new Checkpoint(0, 0, memory.pages(), new int[Layout.STORE_TREES]).write(memory);
  }

  /**
   * Opens the store in {@code zone} at its last finished checkpoint, after verifying every page of
   * it. It has as many pages as the zone it was formatted in, at whichever member of the group,
   * had; what {@code zone} has more is not used.
   *
   * @throws TakoException with status CORRUPT, naming the page; UNAVAILABLE when the takeover of
   *     another member's checkpoint did not end ({@link SnapshotZone#isIncomplete})
   */
  public static PagedStore open(MappedMemory zone) throws TakoException {
    return open(PageMemory.of(zone));
  }

  static PagedStore open(PageMemory memory) throws TakoException {
    Checkpoint last = Checkpoint.read(memory);
    PageMemory used = memory.first(last.pageCount());
    PageAllocator pages = new CheckpointReader(used, last, START_ANEW).read();
    last.write(used);
    return new PagedStore(used, last, pages);
  }

  /** Pages of the group's zone, from which follows what may be filled. */
  public int pageCount() {
    return memory.pages();
  }

  @Override
  public OrderedMap shard(int shard) {
    if (shard < 0 || shard >= SHARDS) {
      throw new IllegalArgumentException("shard " + shard + " of " + SHARDS);
    }
    return trees[shard];
  }

  @Override
  public OrderedMap server() {
    return trees[SHARDS];
  }

  @Override
  public OrderedMap summary() {
    return trees[SUMMARY];
  }

  @Override
  public long summaryRecordsMax() {
    // Pages are at least half full, but for the last; each has the pages above it besides.
    return pages.summaryMax() * 60L - 60;
  }

  @Override
  public void onCheckpoint(Summarizer summarize) {
    summarizer = summarize;
  }

  @Override
  public long checkpointIndex() {
    return last.index();
  }

  @Override
  public void checkpoint(long index) {
    advanceCheckpoint(Integer.MAX_VALUE);
    beginCheckpoint(index);
    advanceCheckpoint(Integer.MAX_VALUE);
  }

  @Override
  public void beginCheckpoint(long index) {
    if (frozen != null) {
      return;
    }
    summarize();
    int[] roots = new int[trees.length];
    for (int tree = 0; tree < trees.length; tree++) {
      roots[tree] = trees[tree].root();
    }
    frozen = new Checkpoint(last.generation() + 1, index, memory.pages(), roots);
    pages.freeze();
  }

  private void summarize() {
    pages.countNothing(true);
    try {
      summarizer.run();
    } catch (TakoException e) {
      throw new IllegalStateException("no page for the summary, for which some are kept", e);
    } finally {
      pages.countNothing(false);
    }
  }

  @Override
  public boolean advanceCheckpoint(int count) {
    if (frozen == null) {
      return true;
    }
    if (!pages.seal(count, crc)) {
      return false;
    }
    frozen.write(memory);
    pages.thaw();
    last = frozen;
    frozen = null;
    return true;
  }

  /**
   * Holds the last finished checkpoint; several may be held. Takes a time that follows from the
   * inner pages of the trees, about a hundredth of all.
   */
  public HeldCheckpoint hold() {
    return pages.hold(last, last.pages(memory));
  }

  @Override
  public boolean checkpointDue() {
    return pages.isLow();
  }

  @Override
  public boolean checkpointWanted() {
    return frozen == null && pages.isGettingLow();
  }

  @Override
  public boolean hasRoom(int changes) {
    return pages.hasRoom(changes);
  }

  @Override
  public void beginEntry() {
    pages.beginEntry();
  }

  @Override
  public boolean take(int changes, int growing) {
    return pages.takeForEntry(changes, growing);
  }

  @Override
  public boolean take(BitSet written, int growing, long bytes) {
    return pages.takeForEntry(written.cardinality(), growing, bytes);
  }

  @Override
  public int removalsMax() {
    return pages.entryMax() / 3;
  }

  @Override
  public long pagesUsed() {
    return pages.live();
  }

  @Override
  public long pagesTotal() {
    return pages.growthMax();
  }

  @Override
  public void close() {
    // The zone is the pool's; what is not in a checkpoint is in the log.
  }
}
