package io.takofs.server.store;

import java.nio.ByteBuffer;
import java.util.BitSet;

/**
 * A finished checkpoint whose pages stay as they are though later ones are made, so that another
 * member can read them one-sided.
 *
 * <p>The state machine never waits for a reader: when it needs a page and none is free but those
 * that are held, held checkpoints are broken, the oldest first. The pages of a broken one may have
 * changed since; so what was read counts only if {@link #isHeld} was true after all of it had been
 * read. It is in the heap: a process that is started again holds nothing.
 *
 * <p>Thread rule: the store's thread.
 */
public final class HeldCheckpoint implements AutoCloseable {
  private final Checkpoint checkpoint;
  private final BitSet pages;
  private final PageAllocator allocator;
  private boolean held = true;

  HeldCheckpoint(Checkpoint checkpoint, BitSet pages, PageAllocator allocator) {
    this.checkpoint = checkpoint;
    this.pages = pages;
    this.allocator = allocator;
  }

  /** Last log entry that it contains. */
  public long index() {
    return checkpoint.index();
  }

  public long generation() {
    return checkpoint.generation();
  }

  /** A {@code CHECKPOINT} of layout.def, little-endian. */
  public ByteBuffer encoded() {
    return checkpoint.encode();
  }

  /** Numbers of the pages of all its trees; not to be changed. */
  public BitSet pages() {
    return pages;
  }

  /** Whether all its pages are as they were when it was taken; false once broken or closed. */
  public boolean isHeld() {
    return held;
  }

  void end() {
    held = false;
  }

  /** Lets the pages be used again; nothing happens if it is broken. */
  @Override
  public void close() {
    allocator.release(this);
  }
}
