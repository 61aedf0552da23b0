package io.takofs.server.namespace.state;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Transaction;
import java.util.ArrayList;
import java.util.List;

/**
 * The files whose data may lie in slabs with another number of copies than they are to have: a
 * record {@code V fileId} in the server's map until their data was moved. It is: index of the entry
 * that asked for the move u64, parent id u64, name.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class FilesToMove {
  private final OrderedMap map;
  private long count;

  /**
   * A file to be moved.
   *
   * @param asked index of the entry that asked for it last
   * @param parentId with {@code name} where the file was then; {@link Locations} finds it
   */
  public record FileToMove(long fileId, long asked, long parentId, byte[] name) {
    static FileToMove decode(long fileId, byte[] value) {
      ByteReader in = new ByteReader(value);
      return new FileToMove(fileId, in.u64(), in.u64(), in.rest());
    }

    byte[] encode() {
      return new ByteWriter(16 + name.length).u64(asked).u64(parentId).raw(name).toBytes();
    }
  }

  FilesToMove(OrderedMap map) {
    this.map = map;
    map.scanPrefix(
        new byte[] {Keys.TO_MOVE},
        (key, value) -> {
          count++;
          return true;
        });
  }

  /** Files that are to be moved. */
  public long count() {
    return count;
  }

  /** The record of a file, or null. */
  public FileToMove get(long fileId) {
    byte[] value = map.get(key(fileId));
    return value == null ? null : FileToMove.decode(fileId, value);
  }

  /** Up to {@code limit} with larger ids, which are unsigned, in order of id. */
  public List<FileToMove> after(long fileId, int limit) {
    List<FileToMove> found = new ArrayList<>();
    map.scanPrefix(
        new byte[] {Keys.TO_MOVE},
        key(fileId),
        (key, value) -> {
          if (Keys.id(key) != fileId) {
            found.add(FileToMove.decode(Keys.id(key), value));
          }
          return found.size() < limit;
        });
    return found;
  }

  /** The data of {@code file} is to be moved, as the entry {@code asked} says. */
  public void add(Transaction tx, DirectoryEntry file, long asked) {
    long id = file.inode().id;
    if (map.get(key(id)) == null) {
      change(tx, 1);
    }
    tx.put(map, key(id), new FileToMove(id, asked, file.parentId(), file.name()).encode());
  }

  /** The file was moved, or is gone; does nothing when it has no record. */
  public void remove(Transaction tx, long fileId) {
    if (count > 0 && map.get(key(fileId)) != null) {
      change(tx, -1);
      tx.remove(map, key(fileId));
    }
  }

  private void change(Transaction tx, int by) {
    count += by;
    tx.undoWith(() -> count -= by);
  }

  private static byte[] key(long fileId) {
    return Keys.of(Keys.TO_MOVE, fileId);
  }
}
