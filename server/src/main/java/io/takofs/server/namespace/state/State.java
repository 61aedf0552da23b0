package io.takofs.server.namespace.state;

import io.takofs.base.TakoException;
import io.takofs.server.extent.ExtentTable;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;
import java.util.List;

/**
 * The store and what is derived from it, rebuilt at start by one pass over all records.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class State {
  public final Store store;
  public final Limits limits;
  public final AclTable acls;
  public final XAttrTable xattrs;
  public final DirectoryTree tree;
  public final QuotaTable quotas;
  public final FileData data;
  public final Locations locations;
  public final LeaseTable leases;
  public final SessionTable sessions;
  public final ResultTable results;
  public final ExtentTable extents;

  private long files;
  private long directories;
  private long committedBytes;

  public State(Store store, List<Long> arenas, Limits limits) {
    this.store = store;
    this.limits = limits;
    acls = new AclTable(store);
    xattrs = new XAttrTable(store);
    tree = new DirectoryTree(store, acls);
    quotas = new QuotaTable(store, tree);
    data = new FileData(store);
    locations = new Locations(store, tree);
    leases = new LeaseTable(store);
    sessions = new SessionTable(store.server());
    results = new ResultTable(store.server());
    extents = new ExtentTable(store.server(), arenas);
    if (tree.root() == null) {
      makeRoot();
    }
    for (int shard = 0; shard < Store.SHARDS; shard++) {
      store.shard(shard).scan(new byte[0], this::restore);
    }
  }

  private void makeRoot() {
    Transaction tx = new Transaction(store);
    tree.makeRoot(tx, limits);
    try {
      tx.commit(0);
    } catch (TakoException e) {
      throw new IllegalStateException("no page for the root directory", e);
    }
  }

  private boolean restore(byte[] key, byte[] value) {
    switch (key[0]) {
      case Keys.ENTRY -> {
        if (Inode.isDirectory(value)) {
          directories++;
        } else {
          files++;
        }
      }
      case Keys.EXTENT ->
          extents.restoreCommitted(FileExtent.decode(Keys.second(key), value).location());
      case Keys.LEASE -> leases.restore(Lease.decode(Keys.id(key), value));
      default -> {
        // Contents, inline data, ACLs and extended attributes leave nothing in the heap.
      }
    }
    return true;
  }

  /** Files that have a directory entry, attached or not. */
  public long files() {
    return files;
  }

  /** Directories that have an entry, attached or not, the root included. */
  public long directories() {
    return directories;
  }

  /** Bytes that commits have added to files since the start, those of a replay included. */
  public long committedBytes() {
    return committedBytes;
  }

  /** Counts bytes that a commit adds to a file. */
  public void countCommitted(Transaction tx, long bytes) {
    committedBytes += bytes;
    tx.undoWith(() -> committedBytes -= bytes);
  }

  /** Counts an entry that is made (1) or removed (-1). */
  public void count(Transaction tx, Inode inode, int change) {
    add(inode.directory, change);
    tx.undoWith(() -> add(inode.directory, -change));
  }

  private void add(boolean directory, int change) {
    if (directory) {
      directories += change;
    } else {
      files += change;
    }
  }
}
