package io.takofs.server.namespace.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GetFile;
import io.takofs.proto.List;
import io.takofs.proto.Reply;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.Limits;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import java.util.ArrayList;
import java.util.Arrays;

/** Requests that change nothing. */
public final class Queries {
  private static final int EXTENT_BYTES_MAX = 60;
  private static final int EXTENTS_MAX = Limits.REPLY_LIST_MAX / EXTENT_BYTES_MAX;
  private static final byte[] FIRST_NAME = {};

  private Queries() {}

  public static Reply getFile(State state, Caller caller, GetFile request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry entry = state.tree.lookup(path, caller);
    return Replies.file(state.tree.info(entry.inode()).setParentId(entry.parentId()));
  }

  /** A page of a directory; of a file, the file itself, without a name. */
  public static Reply list(State state, Caller caller, List request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry listed = state.tree.lookup(path, caller);
    Inode inode = listed.inode();
    int limit = request.getLimit() <= 0 ? Integer.MAX_VALUE : request.getLimit();
    ListingBuilder listing = new ListingBuilder(Limits.REPLY_LIST_MAX, limit);
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
    // The smallest name after another is that one with a zero byte added.
    byte[] from = after.length == 0 ? FIRST_NAME : Arrays.copyOf(after, after.length + 1);
    state.tree.scan(
        id,
        from,
        entry ->
            listing.add(entry.name(), entry.inode(), state.tree.modificationMs(entry.inode())));
  }

  public static Reply getExtents(State state, Caller caller, GetExtents request)
      throws TakoException {
    DirectoryEntry entry =
        request.getFileId() == 0
            ? state.tree.lookupFile(FilePath.parse(request.getPath()), caller)
            : find(state, caller, request);
    if (entry == null) {
      return extentsOfDetached(state, request);
    }
    Inode inode = entry.inode();
    Permissions.require(caller, inode, Permissions.READ, request.getPath());
    XAttrOperation.requireReadable(state, caller, inode, request.getPath());
    return extents(state, request, entry);
  }

  /** The file that the request names by its id, wherever it is; null when it has no entry. */
  private static DirectoryEntry find(State state, Caller caller, GetExtents request)
      throws TakoException {
    long id = request.getFileId();
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry entry = at(state, caller, path, id);
    if (entry == null) {
      entry = findOpen(state, id);
    }
    if (entry == null && !path.isRoot()) {
      entry = state.locations.find(id, request.getParentId(), path.name());
    }
    if (entry == null && request.getById()) {
      throw new TakoException(Status.NOT_FOUND, "file %016x, once %s, is gone".formatted(id, path));
    }
    return entry;
  }

  /** The entry at {@code path} if it is the file {@code id}, or null. */
  private static DirectoryEntry at(State state, Caller caller, FilePath path, long id) {
    try {
      DirectoryEntry entry = state.tree.lookup(path, caller);
      return entry.inode().id == id ? entry : null;
    } catch (TakoException e) {
      return null; // An error on this path may concern another file by now.
    }
  }

  private static DirectoryEntry findOpen(State state, long id) {
    Lease lease = state.leases.get(id);
    return lease == null ? null : state.tree.get(lease.parentId(), lease.name());
  }

  private static Reply extents(State state, GetExtents request, DirectoryEntry entry) {
    Inode inode = entry.inode();
    ExtentMap.Builder map =
        ExtentMap.newBuilder().setFile(inode.toInfo().setParentId(entry.parentId()));
    if (inode.hasExtents()) {
      addExtents(state, request, inode.id, map);
    }
    if (inode.inlineLength > 0) {
      map.setInlineData(ByteString.copyFrom(state.data.inline(inode.id)));
    }
    return Reply.newBuilder().setExtentMap(map).build();
  }

  /**
   * A file that was deleted since it was opened and is not reclaimed yet. Its inode is gone, and
   * with it who may read it: only where its extents are, which its readers were told before. Of no
   * other file is that told: who does not know where a file is did not open it.
   */
  private static Reply extentsOfDetached(State state, GetExtents request) throws TakoException {
    long id = request.getFileId();
    long length = Detached.isFile(state, id) ? state.data.lengthOfExtents(id) : 0;
    if (length == 0) {
      throw new TakoException(
          Status.NOT_FOUND,
          "%s does not lead to file %016x any more, nor is it where it was seen last; open it again"
              .formatted(request.getPath(), id));
    }
    byte[] inline = state.data.inline(id);
    FileInfo.Builder file = FileInfo.newBuilder().setId(id).setLength(length + inline.length);
    ExtentMap.Builder map =
        ExtentMap.newBuilder().setFile(file).setInlineData(ByteString.copyFrom(inline));
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

  public static Reply getUsage(State state) {
    return Reply.newBuilder().setUsage(usage(state)).build();
  }

  public static SpaceUsage usage(State state) {
    long capacity = state.extents.capacityBytes();
    long free = state.extents.freeBytes();
    return SpaceUsage.newBuilder()
        .setCapacity(capacity)
        .setFree(free)
        .setUsed(capacity - free)
        .build();
  }
}
