package io.takofs.server.namespace.state;

import io.takofs.layout.Layout;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;

/**
 * The committed data of files: extents by position, and inline bytes after them. It lives under the
 * file's id and so never moves.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class FileData {
  private static final byte[] NOTHING = {};

  private final Store store;

  FileData(Store store) {
    this.store = store;
  }

  /** The inline data of a file; empty when it has none. */
  public byte[] inline(long fileId) {
    byte[] data = map(fileId).get(Keys.of(Keys.INLINE, fileId));
    return data == null ? NOTHING : data;
  }

  public void putInline(Transaction tx, long fileId, byte[] data) {
    tx.put(map(fileId), Keys.of(Keys.INLINE, fileId), data);
  }

  public void removeInline(Transaction tx, long fileId) {
    tx.remove(map(fileId), Keys.of(Keys.INLINE, fileId));
  }

  /** Adds or replaces a record. */
  public void put(Transaction tx, long fileId, FileExtent extent) {
    tx.put(map(fileId), Keys.of(Keys.EXTENT, fileId, extent.fileOffset()), extent.encode());
  }

  public void remove(Transaction tx, long fileId, FileExtent extent) {
    tx.remove(map(fileId), Keys.of(Keys.EXTENT, fileId, extent.fileOffset()));
  }

  /** Visits the extents that have bytes at {@code offset} or after it, in order. */
  public void scan(long fileId, long offset, ExtentVisitor visitor) {
    // The extent that holds offset begins less than the largest extent's size before it.
    long from = Math.max(0, offset - Layout.EXTENT_SIZE_MAX + 1);
    map(fileId)
        .scanPrefix(
            Keys.of(Keys.EXTENT, fileId),
            Keys.of(Keys.EXTENT, fileId, from),
            (key, value) -> {
              FileExtent extent = FileExtent.decode(Keys.second(key), value);
              return extent.end() <= offset || visitor.visit(extent);
            });
  }

  /** The extent that holds byte {@code offset}, or null. */
  public FileExtent at(long fileId, long offset) {
    FileExtent[] found = {null};
    scan(
        fileId,
        offset,
        extent -> {
          found[0] = extent;
          return false;
        });
    return found[0];
  }

  /** The last extent of a file, or null. */
  public FileExtent last(Inode inode) {
    return inode.hasExtents() ? at(inode.id, inode.extentsLength() - 1) : null;
  }

  /** Bytes in the extents of a file that only its id is known of; 0 when it has none. */
  public long lengthOfExtents(long fileId) {
    long low = 0;
    long high = Long.MAX_VALUE;
    while (low < high) {
      long middle = low + (high - low) / 2;
      FileExtent extent = at(fileId, middle);
      if (extent == null) {
        high = middle;
      } else {
        low = extent.end();
      }
    }
    return low;
  }

  /** Receives the extents of a file. */
  @FunctionalInterface
  public interface ExtentVisitor {
    /** Returns whether to go on. */
    boolean visit(FileExtent extent);
  }

  private OrderedMap map(long fileId) {
    return store.shard(Ids.birthShard(fileId));
  }
}
