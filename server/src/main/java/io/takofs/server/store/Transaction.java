package io.takofs.server.store;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;

/**
 * The changes of one log entry: all of them or none. Changes to maps wait for {@link #commit};
 * until then the maps read as before. State in the heap beside the maps changes at once, and its
 * owner registers here how to undo that.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class Transaction {
  private record Change(OrderedMap map, byte[] key, byte[] value) {}

  /** Bytes of an entry in a page beside key and value, rounded up. */
  private static final int CHANGE_BYTES = 16;

  private final Store store;
  private final List<Change> changes = new ArrayList<>();
  private final Deque<Runnable> undo = new ArrayDeque<>();
  private int growing;
  private boolean tooLarge;

  public Transaction(Store store) {
    this.store = store;
  }

  /** Will add or replace. */
  public void put(OrderedMap map, byte[] key, byte[] value) {
    changes.add(new Change(map, key, value));
    growing++;
  }

  /** Will replace a value that is there by one that is not longer, which needs no room. */
  public void replace(OrderedMap map, byte[] key, byte[] value) {
    changes.add(new Change(map, key, value));
  }

  /** Will remove. */
  public void remove(OrderedMap map, byte[] key) {
    changes.add(new Change(map, key, null));
  }

  /** A change in the heap has been made that {@code action} takes back. */
  public void undoWith(Runnable action) {
    undo.push(action);
  }

  /**
   * Makes the changes, unless they and {@code spare} puts more might not fit.
   *
   * @throws TakoException with status NO_SPACE; nothing has changed in the maps then, and {@link
   *     #abort} is the next call
   */
  public void commit(int spare) throws TakoException {
    if (growing > 0 && !store.hasRoom(growing + spare)) {
      throw new TakoException(
          Status.NO_SPACE,
          "no space for metadata: %d of %d pages in use; delete files or enlarge the metadata zone"
              .formatted(store.pagesUsed(), store.pagesTotal()));
    }
    tooLarge = !store.take(changes.size(), growing) && !takePages();
    if (tooLarge) {
      throw new TakoException(
          Status.NO_SPACE,
          "%d changes are too many at once for the metadata zone; enlarge it"
              .formatted(changes.size()));
    }
    try {
      for (Change change : changes) {
        if (change.value == null) {
          change.map.remove(change.key);
        } else {
          change.map.put(change.key, change.value);
        }
      }
    } catch (TakoException e) {
      throw new IllegalStateException("the store had room and then had none", e);
    }
    changes.clear();
    growing = 0;
    undo.clear();
  }

  private boolean takePages() {
    BitSet pages = new BitSet();
    long bytes = 0;
    for (Change change : changes) {
      change.map.addPagesOf(change.key, pages);
      bytes += change.value == null ? 0 : change.key.length + change.value.length + CHANGE_BYTES;
    }
    return store.take(pages, growing, bytes);
  }

  /**
   * Whether the last {@link #commit} failed because, with what its entry has changed before, more
   * pages might be written than there are for one entry.
   */
  public boolean isTooLarge() {
    return tooLarge;
  }

  /** Takes back what was changed in the heap, last first. */
  public void abort() {
    changes.clear();
    growing = 0;
    while (!undo.isEmpty()) {
      undo.pop().run();
    }
    Invariant.check(changes.isEmpty(), "undoing changed a map");
  }
}
