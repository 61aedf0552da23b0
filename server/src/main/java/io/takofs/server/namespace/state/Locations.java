package io.takofs.server.namespace.state;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;

/**
 * The locations of renamed files: parent id u64, name. Others are where they were made, which
 * whoever asks for them by id remembers; so only a renamed file has a record. Directories have
 * none: what is below one keeps its parent's id when that moves.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class Locations {
  private final Store store;
  private final DirectoryTree tree;

  Locations(Store store, DirectoryTree tree) {
    this.store = store;
    this.tree = tree;
  }

  /** A file will be at {@code entry}, which is not stored yet. */
  public void moved(Transaction tx, DirectoryEntry entry) {
    Inode inode = entry.inode();
    if (inode.directory) {
      return;
    }
    inode.moved = true;
    byte[] name = entry.name();
    tx.put(
        map(inode.id),
        Keys.of(Keys.LOCATION, inode.id),
        new ByteWriter(8 + name.length).u64(entry.parentId()).raw(name).toBytes());
  }

  /** The file's entry goes. */
  public void remove(Transaction tx, Inode inode) {
    if (inode.moved) {
      tx.remove(map(inode.id), Keys.of(Keys.LOCATION, inode.id));
    }
  }

  /**
   * The file {@code id}, made or last seen as {@code name} of a directory; null when it is gone.
   */
  public DirectoryEntry find(long id, long parentId, byte[] name) {
    byte[] location = map(id).get(Keys.of(Keys.LOCATION, id));
    DirectoryEntry entry;
    if (location == null) {
      entry = tree.get(parentId, name);
    } else {
      ByteReader in = new ByteReader(location);
      entry = tree.get(in.u64(), in.rest());
    }
    return entry != null && entry.inode().id == id ? entry : null;
  }

  private OrderedMap map(long fileId) {
    return store.shard(Ids.birthShard(fileId));
  }
}
