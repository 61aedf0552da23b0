package io.takofs.server.namespace.operation;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.CountInProgress;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Keys;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.Quota;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;
import io.takofs.server.store.OrderedMap;
import java.util.ArrayList;
import java.util.List;

/**
 * Inodes without a directory entry. A small file is given up at once; a large one, and a directory
 * that is not empty, becomes a record {@code R id} (flags u8: 1 directory, 2 file, 4 extended
 * attributes; late writer u64) that {@link ReclaimOperation} empties piece by piece. So does
 * whatever has extended attributes.
 */
public record Detached(long id, boolean isDirectory, long lateWriter, boolean hasXAttrs) {
  /** Extents given up with the entry itself. */
  private static final int EXTENTS_AT_ONCE = 4;

  private static final int DIRECTORY = 1;
  private static final int FILE = 2;
  private static final int XATTRS = 4;

  /** The first that there is, or null. */
  public static Detached first(State state) {
    Detached[] found = {null};
    state
        .store
        .server()
        .scanPrefix(
            new byte[] {Keys.DETACHED},
            (key, value) -> {
              ByteReader in = new ByteReader(value);
              int flags = in.u8();
              found[0] =
                  new Detached(
                      Keys.id(key), (flags & DIRECTORY) != 0, in.u64(), (flags & XATTRS) != 0);
              return false;
            });
    return found[0];
  }

  /** Whether {@code id} has no entry any more and still has parts. */
  static boolean isDetached(State state, long id) {
    return state.store.server().get(Keys.of(Keys.DETACHED, id)) != null;
  }

  /** Whether {@code id} is a file that has no entry any more and still has parts. */
  static boolean isFile(State state, long id) {
    byte[] record = state.store.server().get(Keys.of(Keys.DETACHED, id));
    return record != null && (new ByteReader(record).u8() & FILE) != 0;
  }

  /**
   * Gives up a file whose entry the caller removes or replaces. A writer that has it open finds its
   * lease lost.
   */
  static void file(Context context, DirectoryEntry entry) {
    State state = context.state();
    Inode inode = entry.inode();
    List<Long> quotas = state.quotas.over(entry.parentId());
    state.quotas.add(context.tx(), quotas, -1, -QuotaTable.space(state, inode));
    Lease lease = state.leases.get(inode.id);
    long writer = 0;
    if (lease != null) {
      writer = lease.clientId();
      for (var grant : state.extents.granted(inode.id)) {
        state.extents.revoke(context.tx(), grant, writer, context.timeMs());
      }
      state.leases.remove(context.tx(), inode.id);
    }
    boolean extentsAreLeft =
        inode.hasExtents() && !releaseExtents(context, inode.id, writer, EXTENTS_AT_ONCE);
    if (extentsAreLeft && writer != 0) {
      sealLast(context, inode, writer);
    }
    if (inode.inlineLength > 0 && !extentsAreLeft) {
      state.data.removeInline(context.tx(), inode.id); // else its readers go on with all of it
    }
    boolean more = inode.hasXAttrs || extentsAreLeft;
    forget(context, inode, writer, more);
  }

  /**
   * The last extent is given up later, and may be copied until then, or leave with its slab: its
   * record names the writer from now on.
   */
  private static void sealLast(Context context, Inode inode, long writer) {
    FileExtent last = context.state().data.last(inode);
    if (last != null && last.canGrow()) {
      context.state().data.put(context.tx(), inode.id, last.seal(writer));
    }
  }

  /** Gives up a file whose entry the caller removes and whose data it has put elsewhere. */
  static void emptied(Context context, Inode inode) {
    forget(context, inode, 0, inode.hasXAttrs);
  }

  private static void forget(Context context, Inode file, long writer, boolean more) {
    if (more) {
      new Detached(file.id, false, writer, file.hasXAttrs).put(context);
    }
    context.state().acls.remove(context.tx(), file);
    context.state().toMove.remove(context.tx(), file.id);
    context.state().locations.remove(context.tx(), file);
    context.state().count(context.tx(), file, -1);
  }

  /** Gives up a directory, in constant time, whose entry the caller removes or replaces. */
  static void directory(Context context, DirectoryEntry entry, boolean empty) {
    Inode inode = entry.inode();
    long stillCounts = uncharge(context, entry);
    if (empty && !inode.hasXAttrs) {
      removeContents(context, inode.id);
    } else {
      new Detached(inode.id, true, 0, inode.hasXAttrs).put(context);
      if (context.state().tree.setParent(context.tx(), inode.id, stillCounts)) {
        context.state().quotas.addDetached(context.tx(), stillCounts, 1);
      }
    }
    context.state().acls.remove(context.tx(), inode);
    context.state().count(context.tx(), inode, -1);
  }

  /**
   * A directory counts no more; what is in it does until it is reclaimed, unless the directory has
   * a quota of its own, which says how much that is.
   *
   * @return the nearest directory whose quota that still counts against, 0 for none
   */
  private static long uncharge(Context context, DirectoryEntry entry) {
    QuotaTable quotas = context.state().quotas;
    List<Long> over = quotas.over(entry.parentId());
    Quota own = quotas.get(entry.inode().id);
    if (own != null) {
      if (own.counting()) {
        throw new CountInProgress(own);
      }
      quotas.add(context.tx(), over, -own.names(), -own.space());
      quotas.remove(context.tx(), own.id());
      return 0;
    }
    quotas.add(context.tx(), over, -1, 0);
    return over.isEmpty() ? 0 : over.get(0);
  }

  /** Forgets when the entries of an empty directory changed. */
  static void removeContents(Context context, long directoryId) {
    context
        .tx()
        .remove(context.state().tree.contents(directoryId), Keys.of(Keys.CONTENTS, directoryId));
  }

  /**
   * Puts up to {@code limit} extents of a file into quarantine.
   *
   * @param writer client that may still write after the last one; 0 for none
   * @return whether those were all
   */
  static boolean releaseExtents(Context context, long fileId, long writer, int limit) {
    State state = context.state();
    List<FileExtent> extents = new ArrayList<>();
    state.data.scan(fileId, 0, extent -> extents.add(extent) && extents.size() <= limit);
    for (FileExtent extent : extents.subList(0, Math.min(limit, extents.size()))) {
      release(context, fileId, extent, writer);
    }
    return extents.size() <= limit;
  }

  /** COMMITTED becomes QUARANTINE. */
  static void release(Context context, long fileId, FileExtent extent, long writer) {
    context.state().data.remove(context.tx(), fileId, extent);
    rest(context, extent, writer);
  }

  /** As {@link #release}, of an extent in whose place the caller puts another. */
  static void rest(Context context, FileExtent extent, long writer) {
    long grantee = extent.sealed() ? extent.lateWriter() : extent.canGrow() ? writer : 0;
    context
        .state()
        .extents
        .quarantine(
            context.tx(),
            new Quarantined(
                extent.range(),
                extent.generation(),
                grantee == 0 ? extent.generation() : context.index(),
                grantee,
                context.timeMs()));
  }

  void put(Context context) {
    context
        .tx()
        .put(
            map(context),
            Keys.of(Keys.DETACHED, id),
            new ByteWriter(9)
                .u8((isDirectory ? DIRECTORY : FILE) | (hasXAttrs ? XATTRS : 0))
                .u64(lateWriter)
                .toBytes());
  }

  void remove(Context context) {
    context.tx().remove(map(context), Keys.of(Keys.DETACHED, id));
  }

  private static OrderedMap map(Context context) {
    return context.state().store.server();
  }
}
