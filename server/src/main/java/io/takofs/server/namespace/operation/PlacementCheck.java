package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.Placement;
import io.takofs.proto.Status;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Location;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.State;

/**
 * Whether the sender of a commit may store the bytes that it carries: only where it could commit
 * them, in an extent that the file was granted or after the committed bytes of its last one.
 */
public final class PlacementCheck {
  private PlacementCheck() {}

  /** Throws what the commit itself would be refused with. */
  public static void run(State state, long clientId, CommitExtents commit) throws TakoException {
    Recovery.requireLease(state, clientId, commit.getFileId(), commit.getLeaseEpoch());
    for (Placement placement : commit.getPlacementsList()) {
      if (!allowed(state, commit, placement)) {
        throw new TakoException(
            Status.INVALID_ARGUMENT,
            "commit to file %016x refused: %d bytes at %s of arena %s belong to no extent it adds to"
                .formatted(
                    commit.getFileId(),
                    placement.getData().size(),
                    Integer.toUnsignedString(placement.getOffset()),
                    Integer.toUnsignedString(placement.getArena())));
      }
    }
  }

  private static boolean allowed(State state, CommitExtents commit, Placement placement) {
    long from = Integer.toUnsignedLong(placement.getOffset());
    long to = from + placement.getData().size();
    for (Extent extent : commit.getExtentsList()) {
      long first = firstByte(state, commit.getFileId(), extent);
      if (first < 0 || extent.getArena() != placement.getArena()) {
        continue;
      }
      long end = extent.getOffset() + (long) extent.getCapacity();
      if ((from >= first && to <= end) || (from >= entry(first) && to <= entry(end))) {
        return true;
      }
    }
    return false;
  }

  private static long entry(long offset) {
    return offset / Layout.GRANULE_SIZE * Integer.BYTES;
  }

  /** The offset in its arena from which the extent may be written; -1 for none. */
  private static long firstByte(State state, long fileId, Extent extent) {
    Location location = Location.of(extent);
    Grant grant = state.extents.granted(fileId, location);
    if (grant != null) {
      return grant.generation() == extent.getGeneration() ? location.offset() : -1;
    }
    FileExtent committed = state.data.at(fileId, extent.getFileOffset());
    boolean grows =
        committed != null
            && committed.location().equals(location)
            && committed.generation() == extent.getGeneration()
            && !committed.sealed()
            && state.data.at(fileId, committed.end()) == null;
    return grows ? location.offset() + (long) committed.length() : -1;
  }
}
