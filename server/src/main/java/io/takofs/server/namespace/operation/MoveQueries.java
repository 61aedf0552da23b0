package io.takofs.server.namespace.operation;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.server.extent.Grant;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.FilesToMove.FileToMove;
import io.takofs.server.namespace.state.State;
import java.util.ArrayList;
import java.util.List;

/**
 * The files whose data is to move, and what of them is to move next.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class MoveQueries {
  private final State state;

  public MoveQueries(State state) {
    this.state = state;
  }

  /**
   * The result of a look at a file.
   *
   * @param extents to be moved, one after the other, all of one slab; at most as many as one entry
   *     moves, maybe none
   * @param end position after the extents that were looked at
   * @param isAll whether the file has no extents after them
   */
  public record Next(List<Extent> extents, long end, boolean isAll) {}

  /** Files whose data is to move. */
  public long files() {
    return state.toMove.count();
  }

  /** Up to {@code limit} of them with larger ids, which are unsigned, in order of id. */
  public List<FileToMove> filesAfter(long fileId, int limit) {
    return state.toMove.after(fileId, limit);
  }

  /** Whether {@code file} is to be moved still, as {@link FileToMove#asked} says, and is closed. */
  public boolean mayMove(FileToMove file) {
    FileToMove now = state.toMove.get(file.fileId());
    return now != null && now.asked() == file.asked() && !isOpen(file.fileId());
  }

  /** Whether somebody has {@code file} open for writing, so that its data stays. */
  public boolean isOpen(long fileId) {
    return state.leases.get(fileId) != null;
  }

  /** Whether a file has {@code extent} still, as it was. */
  public boolean isPresent(long fileId, Extent extent) {
    return MoveOperation.isPresent(state, fileId, extent);
  }

  /** Copies that are to be kept of the data of {@code file}; 0 when it is gone. */
  public int copies(FileToMove file) {
    DirectoryEntry entry = state.locations.find(file.fileId(), file.parentId(), file.name());
    return entry == null ? 0 : state.limits().copies(entry.inode().replication);
  }

  /**
   * Looks at up to {@code limit} extents of {@code file} from the one at {@code offset} on, for
   * those in slabs that are not to have {@code copies} copies.
   */
  public Next next(FileToMove file, long offset, int copies, int limit) {
    List<Extent> found = new ArrayList<>();
    long[] end = {offset};
    boolean[] stopped = {false};
    int[] seen = {0};
    state.data.scan(
        file.fileId(),
        offset,
        extent -> {
          boolean goesOn = seen[0]++ < limit && take(extent, copies, found);
          stopped[0] = !goesOn;
          end[0] = goesOn ? extent.end() : end[0];
          return goesOn;
        });
    return new Next(found, end[0], !stopped[0]);
  }

  /** Takes {@code extent} if it is to be moved with those found; false when it is not of them. */
  private boolean take(FileExtent extent, int copies, List<Extent> found) {
    boolean moves = MoveOperation.isElsewhere(state, extent, copies);
    if (!moves) {
      return found.isEmpty();
    }
    boolean fits =
        found.isEmpty()
            || (found.size() < MoveOperation.EXTENTS_MAX
                && found.get(0).getSlab() == extent.range().slab());
    if (fits) {
      found.add(extent.toProto());
    }
    return fits;
  }

  /** The grants of the copier that live, for messages; most of them are of the last entries. */
  public List<Extent> copierGrants() {
    return state.extents.granted(Grant.NO_FILE).stream().map(Grant::toProto).toList();
  }

  /** The size of the extent that has room for so many bytes. */
  public static int capacityFor(int length) {
    int units = Math.max(1, (length + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE);
    return Integer.highestOneBit(2 * units - 1) * Layout.UNIT_SIZE;
  }
}
