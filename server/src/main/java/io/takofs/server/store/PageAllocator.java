package io.takofs.server.store;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.zip.CRC32C;

/**
 * Tracks free pages, writable pages, and pages that the next checkpoint frees.
 *
 * <p>A page belongs to the generation in which it was allocated: the number of the checkpoint that
 * will have it first. Only pages of the present generation are written.
 *
 * <p>Limits follow from the pages that the present state fills, not from how many are free, because
 * that depends on when checkpoints were taken, and a replay must decide as the first run did.
 *
 * <p>Held checkpoints keep pages from being free, and nothing else: what may be filled, what an
 * entry may take and when a checkpoint is due are as if nobody held anything. So an entry may need
 * a page that is held; then holds are broken ({@link HeldPages}). Only when a checkpoint should
 * begin in time ({@link #isGettingLow}) counts what is really free, because a checkpoint may then
 * spare a hold.
 *
 * <p>Thread rule: the store's thread.
 */
final class PageAllocator {
  /** Levels of the highest tree that a zone of 2^31 pages could hold. */
  static final int LEVELS = 32;

  /** Part of the pages that live data may not fill, so that changes find fresh pages. */
  private static final int HEADROOM_PART = 8;

  /** Pages that CHANGES_PER_CHECK changes may copy, and some: in a small zone trees are low. */
  private static final int HEADROOM_MIN = 5 * Store.CHANGES_PER_CHECK / 2 + 20;

  /** Part of the pages that growth may not fill, kept for entries that shrink the state. */
  private static final int SHRINK_PART = 64;

  /** Changes of a transaction that records a result, and pages of an entry kept for it. */
  private static final int RECORD_CHANGES = 2;

  private static final int RECORD_PAGES = 32;

  private final PageMemory memory;
  private final int[] liveAtLevel = new int[LEVELS];
  private final IntList free = new IntList();
  private final HeldPages held = new HeldPages();
  private final int headroom;
  private final int summaryMax;
  private final int liveMax;
  private final int growthMax;

  private long generation;
  private int live;
  private IntList changed = new IntList();
  private IntList retired = new IntList();
  private IntList frozenChanged = new IntList();
  private IntList frozenRetired = new IntList();
  private int sealed;
  private long takenForEntry;
  private boolean countNothing;

  /**
   * @param generation of the pages allocated from now on
   * @param inUse pages that must not be allocated
   */
  PageAllocator(PageMemory memory, long generation, BitSet inUse) {
    this.memory = memory;
    this.generation = generation;
    int pages = memory.pages() - PagedStore.FIRST_PAGE;
    headroom = Math.max(pages / HEADROOM_PART, Math.min(pages / 3, HEADROOM_MIN));
    summaryMax = Math.max(2, pages / Store.SUMMARY_PART);
    liveMax = pages - headroom - 2 * summaryMax;
    growthMax = liveMax - Math.max(liveMax / SHRINK_PART, LEVELS);
    for (int page = memory.pages() - 1; page >= PagedStore.FIRST_PAGE; page--) {
      if (!inUse.get(page)) {
        free.add(page);
      }
    }
  }

  PageMemory memory() {
    return memory;
  }

  /** Whether pages that come or go count as live: those of the summary do not. */
  void countNothing(boolean nothing) {
    countNothing = nothing;
  }

  /** Counts a page that the opened checkpoint has. */
  void countLive(int level) {
    if (!countNothing) {
      liveAtLevel[level]++;
      live++;
    }
  }

  /** A fresh page, its number and generation set. */
  int allocate(int level) {
    int page = take();
    countLive(level);
    return page;
  }

  private int take() {
    held.breakUntilFree(free);
    Invariant.check(
        free.size() > 0,
        "no page is free: the store's owner must take a checkpoint when checkpointDue()");
    int page = free.removeLast();
    ByteBuffer b = memory.buffer(page);
    int at = memory.offset(page);
    Page.setNumber(b, at, page);
    Page.setGeneration(b, at, generation);
    changed.add(page);
    return page;
  }

  /** Whether {@code page} may be written in place. */
  boolean isWritable(int page) {
    return Page.generation(memory.buffer(page), memory.offset(page)) == generation;
  }

  /** A writable copy of {@code page}, which is released. */
  int copy(int page) {
    int fresh = take();
    ByteBuffer to = memory.buffer(fresh);
    int toAt = memory.offset(fresh);
    to.put(toAt, memory.buffer(page), memory.offset(page), Layout.PAGE_SIZE);
    Page.setNumber(to, toAt, fresh);
    Page.setGeneration(to, toAt, generation);
    retired.add(page);
    return fresh;
  }

  /** Releases a page that no tree has any more. */
  void release(int page) {
    ByteBuffer b = memory.buffer(page);
    int at = memory.offset(page);
    if (!countNothing) {
      liveAtLevel[Page.level(b, at)]--;
      live--;
    }
    if (Page.generation(b, at) == generation) {
      Page.setGeneration(b, at, 0);
      free.add(page);
    } else {
      retired.add(page);
    }
  }

  /** Refuses what might need {@code pages} more than may be filled. */
  void checkRoom(int pages) throws TakoException {
    if (live + pages > liveMax && !countNothing) {
      throw new TakoException(
          Status.NO_SPACE,
          "the page zone is full: "
              + live
              + " of "
              + liveMax
              + " pages hold metadata; delete files, or format a larger pool");
    }
  }

  /**
   * Whether {@code changes} puts can grow the state. Each may split a leaf; an inner page that was
   * split has room for many more children before it is split again.
   */
  boolean hasRoom(int changes) {
    return live + changes + splits(changes) <= growthMax;
  }

  /** The entry before has all its pages; {@link #isLow} was false after it. */
  void beginEntry() {
    takenForEntry = 0;
  }

  /** Pages that are sure to be free for one entry, without those kept for the record. */
  int entryMax() {
    return headroom / 8 * 7 - RECORD_PAGES;
  }

  /**
   * Takes pages for changes of any keys: each writes its leaf and those above it, and each put may
   * split them. So few that they may be the record of a result may take the pages kept for that.
   */
  boolean takeForEntry(int changes, int growing) {
    int inner = live - liveAtLevel[0];
    long written = changes + Math.min((long) changes * height(), inner);
    long kept = changes <= RECORD_CHANGES ? RECORD_PAGES : 0;
    return takeForEntry(
        growing == 0 ? written : written + growing + splits(growing), entryMax() + kept);
  }

  /** Takes pages for changes that write {@code written} pages and add {@code bytes}. */
  boolean takeForEntry(int written, int growing, long bytes) {
    long split = Math.min(growing, written) + bytes / (Page.CAPACITY / 4);
    return takeForEntry(written + split + (growing == 0 ? 0 : height()), entryMax());
  }

  private boolean takeForEntry(long pages, long max) {
    if (takenForEntry + pages > max) {
      return false;
    }
    takenForEntry += pages;
    return true;
  }

  private long splits(int changes) {
    int inner = live - liveAtLevel[0];
    return Math.min(
        (long) changes * height(), inner + Math.min(changes, Layout.STORE_TREES) + changes / 8);
  }

  private int height() {
    int height = LEVELS;
    while (height > 1 && liveAtLevel[height - 1] == 0) {
      height--;
    }
    return height;
  }

  /** Whether free pages run low, counting those that only a hold keeps: they are given up. */
  boolean isLow() {
    return free.size() + held.size() < headroom / 8 * 7 + summaryMax;
  }

  /** Whether a checkpoint would free enough pages to be worth it, and they may soon be missed. */
  boolean isGettingLow() {
    return free.size() < 2 * headroom + summaryMax && retired.size() > headroom / 4;
  }

  /** Pages that the summary may fill. */
  int summaryMax() {
    return summaryMax;
  }

  int live() {
    return live;
  }

  int growthMax() {
    return growthMax;
  }

  /** Ends the generation: its pages are what a checkpoint must seal, none is written any more. */
  void freeze() {
    IntList emptyChanged = frozenChanged;
    IntList emptyRetired = frozenRetired;
    frozenChanged = changed;
    frozenRetired = retired;
    changed = emptyChanged;
    retired = emptyRetired;
    sealed = 0;
    generation++;
  }

  /** Seals up to {@code pages} frozen pages with their CRC; returns whether all are. */
  boolean seal(int pages, CRC32C crc) {
    long frozen = generation - 1;
    int until = (int) Math.min(frozenChanged.size(), (long) sealed + pages);
    for (; sealed < until; sealed++) {
      int page = frozenChanged.get(sealed);
      ByteBuffer b = memory.buffer(page);
      int at = memory.offset(page);
      if (Page.generation(b, at) == frozen) {
        Page.seal(b, at, crc);
        memory.persist(page, Layout.PAGE_SIZE);
      }
    }
    return sealed == frozenChanged.size();
  }

  /** The frozen pages are a checkpoint: what only the one before has is free, or held. */
  void thaw() {
    for (int i = 0; i < frozenRetired.size(); i++) {
      int page = frozenRetired.get(i);
      if (!held.keep(page)) {
        free.add(page);
      }
    }
    frozenRetired.clear();
    frozenChanged.clear();
  }

  /** Holds {@code checkpoint}, the last finished one, whose trees have {@code pages}. */
  HeldCheckpoint hold(Checkpoint checkpoint, BitSet pages) {
    HeldCheckpoint hold = new HeldCheckpoint(checkpoint, pages, this);
    held.add(hold);
    return hold;
  }

  void release(HeldCheckpoint hold) {
    held.release(hold, free);
  }
}
