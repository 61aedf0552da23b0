package io.takofs.server.namespace.state;

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
 * Files open for writing: records beside the files, and the same in the heap, for there are few.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class LeaseTable {
  private final Store store;

  /** By file id, which is unsigned. */
  private final NavigableMap<Long, Lease> leases = new TreeMap<>(Long::compareUnsigned);

  /** The files of each client that has any, so that its end does not look at those of others. */
  private final Map<Long, NavigableSet<Long>> filesOf = new HashMap<>();

  private List<Lease> ended = new ArrayList<>();

  LeaseTable(Store store) {
    this.store = store;
  }

  /** Reads the records, at start. */
  void restore() {
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      store
          .shard(shard)
          .scanPrefix(
              new byte[] {Keys.LEASE},
              (key, value) -> {
                set(Keys.id(key), Lease.decode(Keys.id(key), value));
                return true;
              });
    }
  }

  /** The lease of a file, or null. */
  public Lease get(long fileId) {
    return leases.get(fileId);
  }

  /** Adds or replaces. */
  public void put(Transaction tx, Lease lease) {
    tx.put(map(lease.fileId()), Keys.of(Keys.LEASE, lease.fileId()), lease.encode());
    Lease before = set(lease.fileId(), lease);
    boolean passesOn = before != null && before.epoch() != lease.epoch();
    if (passesOn) {
      ended.add(before);
    }
    tx.undoWith(() -> restore(lease.fileId(), before, passesOn));
  }

  public void remove(Transaction tx, long fileId) {
    tx.remove(map(fileId), Keys.of(Keys.LEASE, fileId));
    Lease before = set(fileId, null);
    ended.add(before);
    tx.undoWith(() -> restore(fileId, before, true));
  }

  /** All, in order of file id. */
  public List<Lease> all() {
    return List.copyOf(leases.values());
  }

  public int size() {
    return leases.size();
  }

  /** Up to {@code limit} with larger file ids, in order of file id. */
  public List<Lease> after(long fileId, int limit) {
    return leases.tailMap(fileId, false).values().stream().limit(limit).toList();
  }

  /** Up to {@code limit} of one client, in order of file id. */
  public List<Lease> of(long clientId, int limit) {
    NavigableSet<Long> files = filesOf.get(clientId);
    return files == null ? List.of() : files.stream().limit(limit).map(leases::get).toList();
  }

  /** The number of files a client has open for writing. */
  public int countOf(long clientId) {
    NavigableSet<Long> files = filesOf.get(clientId);
    return files == null ? 0 : files.size();
  }

  /** The leases that have ended since this was last asked. */
  public List<Lease> takeEnded() {
    if (ended.isEmpty()) {
      return List.of();
    }
    List<Lease> taken = ended;
    ended = new ArrayList<>();
    return taken;
  }

  private void restore(long fileId, Lease before, boolean hadEnded) {
    if (hadEnded) {
      ended.remove(before);
    }
    set(fileId, before);
  }

  /** Keeps a lease, or none when it is null; returns what was there. */
  private Lease set(long fileId, Lease lease) {
    Lease before = lease == null ? leases.remove(fileId) : leases.put(fileId, lease);
    if (before != null && (lease == null || lease.clientId() != before.clientId())) {
      NavigableSet<Long> files = filesOf.get(before.clientId());
      files.remove(fileId);
      if (files.isEmpty()) {
        filesOf.remove(before.clientId());
      }
    }
    if (lease != null && (before == null || lease.clientId() != before.clientId())) {
      filesOf
          .computeIfAbsent(lease.clientId(), id -> new TreeSet<>(Long::compareUnsigned))
          .add(fileId);
    }
    return before;
  }

  private OrderedMap map(long fileId) {
    return store.shard(Ids.birthShard(fileId));
  }
}
