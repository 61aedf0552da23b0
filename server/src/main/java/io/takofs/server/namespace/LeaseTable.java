package io.takofs.server.namespace;

import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Files open for writing: records beside the files, and the same in the heap, for there are few.
 *
 * <p>Thread rule: the state machine's thread.
 */
final class LeaseTable {
  private final Store store;
  private final NavigableMap<Long, Lease> leases = new TreeMap<>();
  private List<Lease> ended = new ArrayList<>();

  LeaseTable(Store store) {
    this.store = store;
  }

  /** At start: a record that was found. */
  void restore(Lease lease) {
    leases.put(lease.fileId(), lease);
  }

  /** The lease of a file, or null. */
  Lease get(long fileId) {
    return leases.get(fileId);
  }

  /** Adds or replaces. */
  void put(Transaction tx, Lease lease) {
    tx.put(map(lease.fileId()), Keys.of(Keys.LEASE, lease.fileId()), lease.encode());
    Lease before = leases.put(lease.fileId(), lease);
    boolean passesOn = before != null && before.epoch() != lease.epoch();
    if (passesOn) {
      ended.add(before);
    }
    tx.undoWith(() -> restore(lease.fileId(), before, passesOn));
  }

  void remove(Transaction tx, long fileId) {
    tx.remove(map(fileId), Keys.of(Keys.LEASE, fileId));
    Lease before = leases.remove(fileId);
    ended.add(before);
    tx.undoWith(() -> restore(fileId, before, true));
  }

  /** All, in order of file id. */
  List<Lease> all() {
    return List.copyOf(leases.values());
  }

  int size() {
    return leases.size();
  }

  /** Up to {@code limit} with larger file ids, in order of file id. */
  List<Lease> after(long fileId, int limit) {
    return leases.tailMap(fileId, false).values().stream().limit(limit).toList();
  }

  /** Those of one client, in order of file id. */
  List<Lease> of(long clientId) {
    List<Lease> found = new ArrayList<>();
    for (Lease lease : leases.values()) {
      if (lease.clientId() == clientId) {
        found.add(lease);
      }
    }
    return found;
  }

  /** The leases that have ended since this was last asked. */
  List<Lease> takeEnded() {
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
    if (before == null) {
      leases.remove(fileId);
    } else {
      leases.put(fileId, before);
    }
  }

  private OrderedMap map(long fileId) {
    return store.shard(Ids.birthShard(fileId));
  }
}
