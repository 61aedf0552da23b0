package io.takofs.server.store;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.BitSet;

/**
 * A page zone that takes over the checkpoint of another member. What was in it is given up: from
 * {@link #begin} on there is no checkpoint here, also after a crash, until {@link #finish} has
 * verified every page of the new one and written its roots.
 *
 * <p>Pages keep their numbers. They may come in any order, by whatever writes to the zone's memory,
 * one-sided reads above all. No store may be open in the zone meanwhile, and nothing may still be
 * under way to it when {@link #finish} or another {@link #begin} is called.
 *
 * <p>Thread rule: one thread.
 */
public final class SnapshotZone {
  private final PageMemory memory;
  private final Checkpoint checkpoint;
  private final BitSet pages;
  private final BitSet taken = new BitSet();

  private SnapshotZone(PageMemory memory, Checkpoint checkpoint, BitSet pages) {
    this.memory = memory;
    this.checkpoint = checkpoint;
    this.pages = pages;
  }

  /** Whether a takeover has begun in {@code zone} and not ended; then no store can be opened. */
  public static boolean isIncomplete(MappedMemory zone) {
    return isIncomplete(PageMemory.of(zone));
  }

  /** Pages that the group's zone has, as the takeover says that has not ended in {@code zone}. */
  public static int incompletePageCount(MappedMemory zone) {
    return Checkpoint.incompletePageCount(PageMemory.of(zone));
  }

  static boolean isIncomplete(PageMemory memory) {
    return Checkpoint.isIncomplete(memory);
  }

  /**
   * Begins: durably, there is no checkpoint in {@code zone} any more.
   *
   * @param encoded a {@code CHECKPOINT} of layout.def, as {@link HeldCheckpoint#encoded} gives it
   * @param pages that it has, as {@link HeldCheckpoint#pages} gives them
   * @throws TakoException with nothing changed: MALFORMED; NO_SPACE when the zone has fewer pages
   *     than the group's
   */
  public static SnapshotZone begin(MappedMemory zone, ByteBuffer encoded, BitSet pages)
      throws TakoException {
    return begin(PageMemory.of(zone), encoded, pages);
  }

  static SnapshotZone begin(PageMemory memory, ByteBuffer encoded, BitSet pages)
      throws TakoException {
    Checkpoint checkpoint = Checkpoint.parse(encoded);
    if (pages.length() > checkpoint.pageCount()
        || (!pages.isEmpty() && pages.nextSetBit(0) < PagedStore.FIRST_PAGE)) {
      throw new TakoException(
          Status.MALFORMED,
          "a checkpoint of a zone of "
              + checkpoint.pageCount()
              + " pages has others: from "
              + pages.nextSetBit(0)
              + " to "
              + (pages.length() - 1));
    }
    if (checkpoint.pageCount() > memory.pages()) {
      throw new TakoException(
          Status.NO_SPACE,
          ("the group's page zone is of %d pages, and that of this server has room for %d; it needs"
                  + " a pool with fs.tako.server.pool.pages.size of at least %d bytes")
              .formatted(
                  checkpoint.pageCount(),
                  memory.pages(),
                  (long) checkpoint.pageCount() * Layout.PAGE_SIZE));
    }
    checkpoint.writeMarks(memory);
    return new SnapshotZone(memory.first(checkpoint.pageCount()), checkpoint, pages);
  }

  /** All bytes of {@code count} pages from {@code first} are in the zone's memory. */
  public void take(int first, int count) {
    Invariant.check(
        pages.get(first) && pages.nextClearBit(first) >= first + count,
        "only pages of the checkpoint are taken over");
    taken.set(first, first + count);
  }

  /**
   * Verifies every page, makes them durable and writes the roots, which takes some seconds for many
   * GiB. The store is then at the checkpoint that was taken over.
   *
   * @throws TakoException CORRUPT when a page fails its CRC, is missing or is not one of the
   *     checkpoint's; the zone stays without a checkpoint
   */
  public PagedStore finish() throws TakoException {
    CheckpointReader reader =
        new CheckpointReader(
            memory, checkpoint, "the checkpoint was not taken over whole, it must be read again");
    PageAllocator allocator = reader.read();
    if (!reader.pages().equals(taken)) {
      BitSet different = (BitSet) taken.clone();
      different.xor(reader.pages());
      int page = different.nextSetBit(0);
      throw new TakoException(
          Status.CORRUPT,
          "page zone: page "
              + page
              + (taken.get(page) ? " was read and is not" : " was not read and is")
              + " one of the checkpoint's; it must be read again");
    }
    taken.stream().forEach(page -> memory.persist(page, Layout.PAGE_SIZE));
    checkpoint.write(memory);
    return new PagedStore(memory, checkpoint, allocator);
  }
}
