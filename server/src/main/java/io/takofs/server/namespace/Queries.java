package io.takofs.server.namespace;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Caller;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GetFile;
import io.takofs.proto.List;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.proto.Usage;
import java.util.ArrayList;
import java.util.Arrays;

/** Requests that change nothing. */
final class Queries {
  /** What a reply may carry beside its header and the fields around a list, bytes. */
  private static final int REPLY_MAX = Layout.RPC_REPLY_SLOT_SIZE - 1024;

  private static final int EXTENT_BYTES_MAX = 60;
  private static final int EXTENTS_MAX = REPLY_MAX / EXTENT_BYTES_MAX;
  private static final byte[] FIRST_NAME = {};

  private Queries() {}

  static Reply getFile(State state, Caller caller, GetFile request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry entry = state.tree.lookup(path, caller);
    return Replies.file(state.tree.info(entry.inode()).setParentId(entry.parentId()));
  }

  /** A page of a directory; of a file, the file itself, without a name. */
  static Reply list(State state, Caller caller, List request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry listed = state.tree.lookup(path, caller);
    Inode inode = listed.inode();
    int limit = request.getLimit() <= 0 ? Integer.MAX_VALUE : request.getLimit();
    ListingBuilder listing = new ListingBuilder(REPLY_MAX, limit);
    if (inode.directory) {
      Permissions.require(caller, inode, Permissions.READ | Permissions.EXECUTE, path.toString());
      listPage(state, inode.id, request.getStartAfter(), listing);
    } else if (request.getStartAfter().isEmpty()) {
      listing.add(FIRST_NAME, inode, inode.modificationMs);
    }
    long parentId = inode.directory ? inode.id : listed.parentId();
    return Reply.newBuilder().setListing(listing.build().setParentId(parentId)).build();
  }

  private static void listPage(State state, long id, String startAfter, ListingBuilder listing) {
    byte[] after = startAfter.getBytes(UTF_8);
    // The smallest name behind another is that one with a zero byte added.
    byte[] from = after.length == 0 ? FIRST_NAME : Arrays.copyOf(after, after.length + 1);
    state.tree.scan(
        id,
        from,
        entry ->
            listing.add(entry.name(), entry.inode(), state.tree.modificationMs(entry.inode())));
  }

  static Reply getExtents(State state, Caller caller, GetExtents request) throws TakoException {
    Inode inode = null;
    long id = request.getFileId();
    if (!request.getPath().isEmpty()) {
      FilePath path = FilePath.parse(request.getPath());
      inode = id == 0 ? state.tree.lookupFile(path, caller).inode() : find(state, caller, path, id);
    }
    if (inode == null) {
      inode = findOpen(state, id);
    }
    if (inode == null && request.getById()) {
      inode = findMoved(state, request);
    }
    if (inode != null) {
      Permissions.require(caller, inode, Permissions.READ, request.getPath());
      if (caller.getSuperuser() && XAttrOperation.isUnreadable(state, inode)) {
        throw new TakoException(
            Status.PERMISSION_DENIED,
            "Access is denied: no superuser may read " + request.getPath());
      }
      return extents(state, request, inode);
    }
    return extentsOfId(state, request);
  }

  /** The file at {@code path} if it is the file {@code id}, or null. */
  private static Inode find(State state, Caller caller, FilePath path, long id)
      throws TakoException {
    try {
      Inode inode = state.tree.lookup(path, caller).inode();
      return inode.id == id ? inode : null;
    } catch (TakoException e) {
      if (e.status() == Status.PERMISSION_DENIED) {
        throw e;
      }
      return null;
    }
  }

  private static Inode findMoved(State state, GetExtents request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    Inode inode = null;
    if (!path.isRoot()) {
      inode = state.locations.find(request.getFileId(), request.getParentId(), path.name());
    }
    if (inode == null) {
      throw new TakoException(
          Status.NOT_FOUND, "file %016x, once %s, is gone".formatted(request.getFileId(), path));
    }
    return inode;
  }

  private static Inode findOpen(State state, long id) {
    Lease lease = state.leases.get(id);
    return lease == null ? null : state.tree.get(lease.parentId(), lease.name()).inode();
  }

  private static Reply extents(State state, GetExtents request, Inode inode) {
    ExtentMap.Builder map = ExtentMap.newBuilder().setFile(inode.toInfo());
    if (inode.hasExtents) {
      addExtents(state, request, inode.id, map);
    } else if (inode.length > 0) {
      map.setInlineData(ByteString.copyFrom(state.data.inline(inode.id)));
    }
    return Reply.newBuilder().setExtentMap(map).build();
  }

  /**
   * A file that was renamed or deleted since it was opened. Where its inode is cannot be known, so
   * neither can who may read it: only where its extents are, which its readers were told before.
   */
  private static Reply extentsOfId(State state, GetExtents request) throws TakoException {
    long id = request.getFileId();
    long length = state.data.lengthOfExtents(id);
    if (length == 0) {
      throw new TakoException(
          Status.NOT_FOUND,
          "%s does not lead to file %016x any more, and it has no extents"
              .formatted(request.getPath(), id));
    }
    ExtentMap.Builder map =
        ExtentMap.newBuilder().setFile(FileInfo.newBuilder().setId(id).setLength(length));
    addExtents(state, request, id, map);
    return Reply.newBuilder().setExtentMap(map).build();
  }

  private static void addExtents(State state, GetExtents request, long id, ExtentMap.Builder map) {
    int limit = request.getLimit() <= 0 ? EXTENTS_MAX : Math.min(request.getLimit(), EXTENTS_MAX);
    java.util.List<FileExtent> found = new ArrayList<>();
    if (request.getOffset() >= 0) {
      state.data.scan(
          id, request.getOffset(), extent -> found.add(extent) && found.size() <= limit);
    }
    map.setMore(found.size() > limit);
    for (FileExtent extent : found.subList(0, Math.min(limit, found.size()))) {
      map.addExtents(extent.toProto());
    }
  }

  static Reply getUsage(State state) {
    return Reply.newBuilder().setUsage(usage(state)).build();
  }

  static Usage usage(State state) {
    long capacity = state.extents.capacityBytes();
    long free = state.extents.freeBytes();
    return Usage.newBuilder().setCapacity(capacity).setFree(free).setUsed(capacity - free).build();
  }
}
