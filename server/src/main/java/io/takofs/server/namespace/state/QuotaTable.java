package io.takofs.server.namespace.state;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.extent.Grant;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The directories that have a quota, and what counts against each: records, and the same in the
 * heap, for there are few. Only they are counted, so where there is none nothing is done; every
 * change below one is charged to it and to those above it by the operation that makes it, in the
 * same transaction. {@link DirectoryTree#parentOf} leads up from any directory that has entries.
 *
 * <p>A directory that is deleted takes no time, so what was in it counts until it is reclaimed,
 * against the nearest quota it was below when it was deleted and those above that.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class QuotaTable {
  /** Quotas without limits that are kept for renames that wait for their count. */
  public static final int IDLE_MAX = 8;

  /** Directories whose nearest quota is remembered; about 5 MiB. */
  private static final int NEAREST_MAX = 65_536;

  private final OrderedMap map;
  private final DirectoryTree tree;
  private final NavigableMap<Long, Quota> quotas = new TreeMap<>();
  private final NavigableSet<Long> counting = new TreeSet<>();

  /**
   * The nearest directory with a quota at or above others, {@link Ids#ROOT_PARENT} for none, as far
   * as that was asked for: so a charge does not go up all of a deep path each time.
   */
  private final Map<Long, Long> nearest = new HashMap<>();

  /** With the present entry {@link #nearest} may become wrong. */
  private boolean moved;

  QuotaTable(Store store, DirectoryTree tree) {
    this.map = store.server();
    this.tree = tree;
    map.scanPrefix(
        new byte[] {Keys.QUOTA},
        (key, value) -> {
          set(Keys.id(key), Quota.decode(Keys.id(key), value));
          return true;
        });
  }

  /** Whether no directory has one: then nothing is to be charged. */
  public boolean isEmpty() {
    return quotas.isEmpty();
  }

  /** The quota of a directory itself, or null. */
  public Quota get(long directoryId) {
    return quotas.get(directoryId);
  }

  /**
   * The one that is being counted, or null; there is one at a time. Nothing below it changes
   * meanwhile.
   */
  public Quota counting() {
    return counting.isEmpty() ? null : quotas.get(counting.first());
  }

  /** Adds or replaces. */
  public void put(Transaction tx, Quota quota) {
    byte[] value = quota.encode();
    Quota before = set(quota.id(), quota);
    if (before != null && value.length <= before.encode().length) {
      tx.replace(map, key(quota.id()), value); // so that deleting needs no room
    } else {
      tx.put(map, key(quota.id()), value);
    }
    tx.undoWith(() -> set(quota.id(), before));
  }

  public void remove(Transaction tx, long directoryId) {
    tx.remove(map, key(directoryId));
    Quota before = set(directoryId, null);
    tx.undoWith(() -> set(directoryId, before));
  }

  /** Keeps one in the heap, or none when it is null; returns what was there. */
  private Quota set(long id, Quota quota) {
    moved |= quota == null || !quotas.containsKey(id);
    if (quota != null && quota.counting()) {
      counting.add(id);
    } else {
      counting.remove(id);
    }
    return quota == null ? quotas.remove(id) : quotas.put(id, quota);
  }

  // ---- who is charged --------------------------------------------------------------------------

  /** Before an entry is applied. */
  public void begin() {
    if (moved || nearest.size() > NEAREST_MAX) {
      nearest.clear();
    }
    moved = false;
  }

  /** The present entry moves a directory, and with it all below it. */
  public void directoryMoves() {
    moved = true;
  }

  /**
   * The directories with a quota at and above one that has entries, the nearest first: whoever
   * changes something there has to charge them.
   *
   * @throws CountInProgress when one of them is being counted
   */
  public List<Long> over(long directoryId) {
    List<Long> found = above(directoryId);
    for (long id : found) {
      checkCounted(quotas.get(id));
    }
    return found;
  }

  private static void checkCounted(Quota quota) {
    if (quota.counting()) {
      throw new CountInProgress(quota);
    }
  }

  /** As {@link #over}, for who does not change anything. */
  private List<Long> above(long directoryId) {
    List<Long> found = new ArrayList<>();
    if (!quotas.isEmpty()) {
      long at = nearest(directoryId);
      while (at != Ids.ROOT_PARENT) {
        found.add(at);
        at = nearest(tree.parentOf(at));
      }
    }
    return found;
  }

  private long nearest(long directoryId) {
    List<Long> passed = new ArrayList<>();
    Long known = null;
    long at = directoryId;
    while (at != Ids.ROOT_PARENT && !quotas.containsKey(at) && known == null) {
      passed.add(at);
      known = moved ? null : nearest.get(at);
      at = known == null ? tree.parentOf(at) : known;
    }
    // A way up that ends before the root begins at a directory that has no entries yet.
    boolean whole = known != null || at != Ids.ROOT_PARENT || passed.contains(Ids.ROOT);
    if (whole && !moved) {
      for (long below : passed) {
        nearest.put(below, at);
      }
    }
    return at;
  }

  /** The same of one that may have no entries. */
  public List<Long> over(DirectoryEntry directory) {
    List<Long> found = over(directory.parentId());
    Quota own = quotas.get(directory.inode().id);
    if (own != null) {
      checkCounted(own);
      found.add(0, own.id());
    }
    return found;
  }

  /**
   * Charges {@code directories} with what they get more, or have less.
   *
   * @throws TakoException QUOTA_EXCEEDED; UNAVAILABLE when something deleted counts still and there
   *     may be room when it does not, unless the caller has waited for that
   */
  public void charge(Context context, List<Long> directories, long names, long space)
      throws TakoException {
    for (long id : directories) {
      Quota quota = quotas.get(id);
      if (quota.isExceededBy(names, space)) {
        boolean hasWaited = context.entry().getRequest().getHasWaited();
        throw exceeded(quota, quota.describe(names, space), hasWaited);
      }
    }
    add(context.tx(), directories, names, space);
  }

  /** Charges without asking: what is less, or has been asked. */
  public void add(Transaction tx, List<Long> directories, long names, long space) {
    if (names != 0 || space != 0) {
      for (long id : directories) {
        put(tx, quotas.get(id).withMore(names, space));
      }
    }
  }

  private TakoException exceeded(Quota quota, String why, boolean hasWaited) {
    for (Quota below : quotas.values()) {
      if (below.detached() > 0 && above(below.id()).contains(quota.id())) {
        return new TakoException(
            hasWaited ? Status.QUOTA_EXCEEDED : Status.UNAVAILABLE,
            why + ", with what was deleted and is still being reclaimed; try again");
      }
    }
    return new TakoException(Status.QUOTA_EXCEEDED, why);
  }

  /** Something without a quota of its own that counts against {@code directoryId} is detached. */
  public void addDetached(Transaction tx, long directoryId, int change) {
    Quota quota = quotas.get(directoryId);
    if (quota != null) {
      Quota changed = quota.withDetached(change);
      put(tx, changed);
      if (changed.isIdle()) {
        remove(tx, directoryId);
      }
    }
  }

  /**
   * Removes quotas that renames needed and that nobody came back for, all but a few that somebody
   * may yet come back for; not that of {@code directoryId}.
   */
  public void removeIdle(Transaction tx, long directoryId) {
    List<Long> idle = new ArrayList<>();
    for (Quota quota : quotas.values()) {
      if (quota.isIdle() && quota.id() != directoryId) {
        idle.add(quota.id());
      }
    }
    for (long id : idle.subList(0, Math.max(0, idle.size() - IDLE_MAX))) {
      remove(tx, id);
    }
  }

  // ---- space -----------------------------------------------------------------------------------

  /**
   * Bytes that {@code file} counts as: its length or, while it is open, what it may grow to with
   * the extents it has. So what was granted can always be committed.
   *
   * @param last its last extent, or null
   */
  public static long space(State state, Inode file, FileExtent last) {
    long bytes = file.length;
    if (file.open) {
      if (last != null && last.canGrow()) {
        bytes += last.range().capacity() - last.length();
      }
      for (Grant grant : state.extents.granted(file.id)) {
        bytes += grant.range().capacity();
      }
    }
    return bytes * file.replication;
  }

  /** The same of a file as it is stored; 0 when no directory has a quota. */
  public static long space(State state, Inode file) {
    return state.quotas.isEmpty() ? 0 : space(state, file, state.data.last(file));
  }

  /** Bytes that {@code directories} may get more, at most {@code wanted}. */
  public long room(List<Long> directories, long wanted) {
    long room = wanted;
    for (long id : directories) {
      Quota quota = quotas.get(id);
      if (quota.spaceMax() != Quota.NONE) {
        room = Math.min(room, Math.max(0, quota.spaceMax() - quota.space()));
      }
    }
    return room;
  }

  private static byte[] key(long id) {
    return Keys.of(Keys.QUOTA, id);
  }
}
