package io.takofs.server.namespace.state;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.FileInfo;
import io.takofs.proto.Status;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.List;

/**
 * Directory entries: finding them by path, listing, storing.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class DirectoryTree {
  private static final byte[] NO_NAME = {};

  private final Store store;
  private final AclTable acls;

  DirectoryTree(Store store, AclTable acls) {
    this.store = store;
    this.acls = acls;
  }

  /** The entry {@code name} of a directory, or null. */
  public DirectoryEntry get(long parentId, byte[] name) {
    byte[] value = contents(parentId).get(Keys.entry(parentId, name));
    return value == null ? null : entry(parentId, name, value);
  }

  private DirectoryEntry entry(long parentId, byte[] name, byte[] value) {
    return new DirectoryEntry(parentId, name, Inode.decode(value, acls));
  }

  /** The root's entry, or null in an empty store. */
  DirectoryEntry root() {
    return get(Ids.ROOT_PARENT, NO_NAME);
  }

  /** Makes the root of an empty store. */
  void makeRoot(Transaction tx, Limits limits) {
    put(
        tx,
        new DirectoryEntry(
            Ids.ROOT_PARENT,
            NO_NAME,
            Inode.directory(Ids.ROOT, 0755, limits.superuser(), limits.supergroup(), 0)));
  }

  public void put(Transaction tx, DirectoryEntry entry) {
    tx.put(
        contents(entry.parentId()),
        Keys.entry(entry.parentId(), entry.name()),
        entry.inode().encode());
  }

  /** Stores a change that leaves the record as long as it was. */
  public void replace(Transaction tx, DirectoryEntry entry) {
    tx.replace(
        contents(entry.parentId()),
        Keys.entry(entry.parentId(), entry.name()),
        entry.inode().encode());
  }

  public void remove(Transaction tx, DirectoryEntry entry) {
    tx.remove(contents(entry.parentId()), Keys.entry(entry.parentId(), entry.name()));
  }

  /** The entries of a directory changed. */
  public void touch(Transaction tx, DirectoryEntry directory, long timeMs) {
    long id = directory.inode().id;
    tx.put(contents(id), contentsKey(id), contentsRecord(timeMs, directory.parentId()));
  }

  private static byte[] contentsKey(long directoryId) {
    return Keys.of(Keys.CONTENTS, directoryId);
  }

  private static byte[] contentsRecord(long timeMs, long parentId) {
    return new ByteWriter(18).signed(timeMs).u64(parentId).toBytes();
  }

  /**
   * The parent of a directory that has, or had, entries; of a detached one the directory whose
   * quota its contents still count against. 0 for none.
   */
  public long parentOf(long directoryId) {
    byte[] touched = contents(directoryId).get(contentsKey(directoryId));
    if (touched == null) {
      return Ids.ROOT_PARENT;
    }
    ByteReader in = new ByteReader(touched);
    in.signed();
    return in.u64();
  }

  /** A directory moves; returns whether it has, or had, entries, and so a parent on record. */
  public boolean setParent(Transaction tx, long directoryId, long parentId) {
    byte[] touched = contents(directoryId).get(contentsKey(directoryId));
    if (touched == null) {
      return false;
    }
    long timeMs = new ByteReader(touched).signed();
    tx.replace(contents(directoryId), contentsKey(directoryId), contentsRecord(timeMs, parentId));
    return true;
  }

  /** The status as callers see it. */
  public FileInfo.Builder info(Inode inode) {
    return inode.toInfo().setModificationTimeMs(modificationMs(inode));
  }

  /** When a file's data or a directory's entries last changed, or what setTimes said since. */
  public long modificationMs(Inode inode) {
    byte[] touched = inode.directory ? contents(inode.id).get(contentsKey(inode.id)) : null;
    return touched == null ? inode.modificationMs : new ByteReader(touched).signed();
  }

  /**
   * Follows {@code path} as far as there are entries.
   *
   * @throws TakoException when an element before the last is a file (NOT_A_DIRECTORY) or a
   *     directory that the caller may not traverse (PERMISSION_DENIED)
   */
  public Walk walk(FilePath path, Caller caller) throws TakoException {
    List<DirectoryEntry> found = new ArrayList<>(path.depth() + 1);
    DirectoryEntry at = root();
    found.add(at);
    for (int depth = 0; depth < path.depth(); depth++) {
      if (!at.inode().directory) {
        throw new TakoException(
            Status.NOT_A_DIRECTORY,
            "%s: %s is a file, not a directory".formatted(path, path.prefix(depth)));
      }
      if (!Permissions.allows(caller, at.inode(), Permissions.EXECUTE)) {
        Permissions.require(caller, at.inode(), Permissions.EXECUTE, path.prefix(depth));
      }
      at = get(at.inode().id, path.name(depth));
      if (at == null) {
        break;
      }
      found.add(at);
    }
    return new Walk(path, found);
  }

  /** The entry at {@code path}; NOT_FOUND when there is none. */
  public DirectoryEntry lookup(FilePath path, Caller caller) throws TakoException {
    return walk(path, caller).target();
  }

  /** The file at {@code path}; IS_A_DIRECTORY when it is something else. */
  public DirectoryEntry lookupFile(FilePath path, Caller caller) throws TakoException {
    DirectoryEntry entry = lookup(path, caller);
    if (entry.inode().directory) {
      throw new TakoException(Status.IS_A_DIRECTORY, path + " is a directory, not a file");
    }
    return entry;
  }

  public boolean isEmpty(long directoryId) {
    boolean[] empty = {true};
    scan(
        directoryId,
        NO_NAME,
        entry -> {
          empty[0] = false;
          return false;
        });
    return empty[0];
  }

  /** Visits the entries of a directory in order of name, from {@code name} on. */
  public void scan(long directoryId, byte[] name, EntryVisitor visitor) {
    contents(directoryId)
        .scanPrefix(
            Keys.of(Keys.ENTRY, directoryId),
            Keys.entry(directoryId, name),
            (key, value) -> visitor.visit(entry(directoryId, Keys.name(key), value)));
  }

  /** Receives the entries of a directory. */
  @FunctionalInterface
  public interface EntryVisitor {
    /** Returns whether to go on. */
    boolean visit(DirectoryEntry entry);
  }

  /** The map that has the entries of a directory. */
  public OrderedMap contents(long directoryId) {
    return store.shard(Ids.contentShard(directoryId));
  }
}
