package io.takofs.server.store;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.zip.CRC32C;

/** Walks all trees of a checkpoint: verifies their pages, and so learns which others are free. */
final class CheckpointReader {
  private final PageMemory memory;
  private final Checkpoint checkpoint;
  private final BitSet inUse;
  private final int[] liveAtLevel = new int[PageAllocator.LEVELS];
  private final CRC32C crc = new CRC32C();
  private final String advice;

  /**
   * @param memory of as many pages as the checkpoint says
   * @param advice what people do when a page is not whole, the end of the message
   */
  CheckpointReader(PageMemory memory, Checkpoint checkpoint, String advice) {
    this.memory = memory;
    this.checkpoint = checkpoint;
    this.advice = advice;
    this.inUse = new BitSet(memory.pages());
  }

  /** The pages of the zone as the checkpoint leaves them. */
  PageAllocator read() throws TakoException {
    for (int tree = 0; tree < checkpoint.roots().length; tree++) {
      int root = checkpoint.roots()[tree];
      if (root != 0) {
        visit(tree, root, -1);
      }
    }
    PageAllocator pages = new PageAllocator(memory, checkpoint.generation() + 1, inUse);
    for (int level = 0; level < liveAtLevel.length; level++) {
      for (int i = 0; i < liveAtLevel[level]; i++) {
        pages.countLive(level);
      }
    }
    return pages;
  }

  /** The pages of all trees, after {@link #read}. */
  BitSet pages() {
    return inUse;
  }

  /** {@code level} is what the page above expects, -1 for a root. */
  private void visit(int tree, int page, int level) throws TakoException {
    if (page < PagedStore.FIRST_PAGE || page >= memory.pages()) {
      throw corrupt(tree, page, "is outside the zone");
    }
    if (inUse.get(page)) {
      throw corrupt(tree, page, "is in use twice");
    }
    inUse.set(page);
    ByteBuffer b = memory.buffer(page);
    int at = memory.offset(page);
    if (!Page.isSealed(b, at, crc)) {
      throw corrupt(tree, page, "fails its CRC");
    }
    int found = Page.level(b, at);
    if (Page.number(b, at) != page
        || Page.tree(b, at) != tree
        || Page.generation(b, at) > checkpoint.generation()
        || found >= PageAllocator.LEVELS
        || (level >= 0 && found != level)) {
      throw corrupt(tree, page, "is another page than its tree expects");
    }
    if (tree != PagedStore.SUMMARY) {
      liveAtLevel[found]++;
    }
    if (found > 0) {
      int count = Page.count(b, at);
      for (int slot = 0; slot < count; slot++) {
        visit(tree, Page.child(b, at, slot), found - 1);
      }
    }
  }

  private TakoException corrupt(int tree, int page, String what) {
    String map =
        tree < Store.SHARDS
            ? "shard " + tree
            : tree == PagedStore.SUMMARY ? "the summary" : "the server's map";
    return new TakoException(
        Status.CORRUPT, "page zone: page " + page + " of " + map + " " + what + "; " + advice);
  }
}
