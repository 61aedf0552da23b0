package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.EndMove;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantMove;
import io.takofs.proto.Grants;
import io.takofs.proto.MoveExtents;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.extent.ExtentTable;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.extent.Wanted;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.FilesToMove.FileToMove;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.State;
import java.util.List;
import java.util.Set;

/**
 * A file's extents move to slabs with another number of copies, or out of a slab that is being
 * emptied, while nobody writes the file: the copier is granted extents, and when all replicas of
 * them have the bytes they take the place of the former ones. What was copied counts only if the
 * file still has it, unchanged. Of a file in a slab that is being emptied nothing but the id is
 * known, which is enough, because its data lies under that.
 *
 * <p>The copier may store under its grant until that is fenced, like any writer; so the new extent
 * is sealed, with the copier as its late writer.
 */
public final class MoveOperation {
  /** Extents that one entry moves: fewer changes than any request may make. */
  public static final int EXTENTS_MAX = 16;

  private MoveOperation() {}

  /**
   * {@code file} is to have other copies than before: its data is to move if there is any, or may
   * be soon, that lies elsewhere.
   *
   * @param copiesBefore for which its writer has grants
   */
  static void ask(Context context, DirectoryEntry file, int copiesBefore) {
    State state = context.state();
    Inode inode = file.inode();
    int copies = state.limits().copies(inode.replication);
    FileExtent first = inode.hasExtents() ? state.data.at(inode.id, 0) : null;
    boolean isElsewhere = first != null && isElsewhere(state, first, copies);
    boolean hasData = first != null || inode.open;
    if (isElsewhere || (hasData && copies != copiesBefore)) {
      state.toMove.add(context.tx(), file, context.index());
    }
  }

  /** Whether {@code extent} lies in a slab that is not to have so many copies. */
  static boolean isElsewhere(State state, FileExtent extent, int copies) {
    Slab slab = state.slabs().get(extent.range().slab());
    return slab.getWanted() != copies;
  }

  public static Reply grant(Context context, GrantMove request) throws TakoException {
    State state = context.state();
    long fileId = request.getFileId();
    if (request.getExtentsCount() > EXTENTS_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%d extents are more than the %d that one entry moves"
              .formatted(request.getExtentsCount(), EXTENTS_MAX));
    }
    requireClosed(state, fileId);
    int copies =
        request.getEmptiesSlab()
            ? copiesOfEmptied(state, request.getExtentsList())
            : state.limits().copies(requireAsked(state, fileId).inode().replication);
    Grants.Builder granted = Grants.newBuilder();
    for (Extent extent : request.getExtentsList()) {
      Grant grant = isPresent(state, fileId, extent) ? grant(context, extent, copies) : null;
      if (grant == null) {
        break;
      }
      boolean isOfFirst =
          granted.getExtentsCount() == 0 || granted.getExtents(0).getSlab() == grant.range().slab();
      if (grant.range().capacity() < extent.getLength() || !isOfFirst) {
        state.extents.release(context.tx(), grant);
        break;
      }
      granted.addExtents(grant.toProto());
    }
    return Reply.newBuilder().setGrants(granted).build();
  }

  /** The copies of the closed slabs that the extents are in: none of the grants is there. */
  private static int copiesOfEmptied(State state, List<Extent> extents) throws TakoException {
    int copies = 0;
    for (Extent extent : extents) {
      Slab slab = state.slabs().get(extent.getSlab());
      boolean isOther = copies != 0 && slab != null && slab.getWanted() != copies;
      if (slab == null || !slab.getClosed() || isOther) {
        throw new TakoException(
            Status.STALE_VERSION,
            "slab %d is gone, or open, or another kind than the others; nothing is moved out of it"
                .formatted(extent.getSlab()));
      }
      copies = slab.getWanted();
    }
    return copies;
  }

  /** A grant for a copy of {@code extent}, or for less of it; null when there is no room. */
  private static Grant grant(Context context, Extent extent, int copies) {
    Wanted space =
        new Wanted(
            MoveQueries.capacityFor(extent.getLength()),
            1,
            copies,
            context.entry().getNearServer(),
            Set.copyOf(context.entry().getAvoidedServersList()));
    List<Grant> grants =
        context
            .state()
            .extents
            .grant(context.tx(), Grant.COPIER, Grant.NO_FILE, context.index(), space);
    return grants.isEmpty() ? null : grants.get(0);
  }

  /** Refused while somebody writes the file. */
  private static void requireClosed(State state, long fileId) throws TakoException {
    if (state.leases.get(fileId) != null) {
      throw new TakoException(
          Status.LEASE_HELD,
          "file %016x is open for writing; its data moves when it is closed".formatted(fileId));
    }
  }

  /** The file that is to have another number of copies. */
  private static DirectoryEntry requireAsked(State state, long fileId) throws TakoException {
    DirectoryEntry file = asked(state, fileId);
    if (file == null) {
      throw new TakoException(
          Status.NOT_FOUND, "the data of file %016x is not to be moved".formatted(fileId));
    }
    return file;
  }

  /** As {@link #requireAsked}, or null. */
  private static DirectoryEntry asked(State state, long fileId) {
    FileToMove asked = state.toMove.get(fileId);
    return asked == null ? null : state.locations.find(fileId, asked.parentId(), asked.name());
  }

  /** Whether the file has {@code extent} as it was when it was looked at. */
  static boolean isPresent(State state, long fileId, Extent extent) {
    FileExtent present =
        extent.getFileOffset() < 0 ? null : state.data.at(fileId, extent.getFileOffset());
    return present != null && present.toProto().equals(extent);
  }

  /** The reply has those of the extents in whose place the copies are now. */
  public static Reply move(Context context, MoveExtents request) throws TakoException {
    if (request.getFromCount() != request.getToCount() || request.getToCount() > EXTENTS_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%d extents take the place of %d"
              .formatted(request.getToCount(), request.getFromCount()));
    }
    State state = context.state();
    long fileId = request.getFileId();
    DirectoryEntry file = request.getEmptiesSlab() ? null : asked(state, fileId);
    boolean mayMove =
        (file != null || request.getEmptiesSlab()) && state.leases.get(fileId) == null;
    Grants.Builder moved = Grants.newBuilder();
    for (int i = 0; i < request.getToCount(); i++) {
      Grant grant = copiers(state, request.getTo(i));
      if (grant == null) {
        continue; // its slab was closed meanwhile
      }
      Extent from = request.getFrom(i);
      if (mayMove
          && isPresent(state, fileId, from)
          && from.getLength() <= grant.range().capacity()) {
        swap(context, fileId, FileExtent.of(from), grant);
        moved.addExtents(from);
      } else {
        state.extents.revoke(context.tx(), grant, Grant.COPIER, context.timeMs());
      }
    }
    if (moved.getExtentsCount() > 0 && file != null) {
      file.inode().version++; // who looked at the extents to change them looks again
      state.tree.put(context.tx(), file);
    }
    return Reply.newBuilder().setGrants(moved).build();
  }

  /** The copier's grant of {@code extent}, if it lives; null otherwise. */
  private static Grant copiers(State state, Extent extent) {
    Grant grant = state.extents.granted(Grant.NO_FILE, SlabRange.of(extent));
    return grant != null && grant.generation() == extent.getGrant() ? grant : null;
  }

  private static void swap(Context context, long fileId, FileExtent asked, Grant grant) {
    State state = context.state();
    FileExtent before = state.data.at(fileId, asked.fileOffset());
    FileExtent after =
        new FileExtent(
            before.fileOffset(),
            grant.range(),
            grant.generation(),
            before.length(),
            before.checksumsCrc(),
            before.tailCrc(),
            true,
            Grant.COPIER);
    Detached.rest(context, before, 0);
    state.extents.commit(context.tx(), grant, fileId, after.fileOffset());
    state.data.put(context.tx(), fileId, after);
  }

  public static Reply end(Context context, EndMove request) {
    State state = context.state();
    ExtentTable extents = state.extents;
    for (Extent extent : request.getGrantsList()) {
      Grant grant = copiers(state, extent);
      if (grant != null) {
        extents.revoke(context.tx(), grant, Grant.COPIER, context.timeMs());
      }
    }
    FileToMove file = request.getFileId() == 0 ? null : state.toMove.get(request.getFileId());
    if (file != null && file.asked() == request.getAsked()) {
      state.toMove.remove(context.tx(), file.fileId());
    }
    return Replies.done();
  }
}
