package io.takofs.server.namespace;

import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.server.extent.GroupSlabs;
import io.takofs.server.extent.Location;
import io.takofs.server.extent.SlabRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Extents as they lie in the arenas of one server, for what that server does with them itself:
 * windows, persistence.
 *
 * <p>Thread rule: that of the state machine.
 */
public final class LocalExtents {
  private final IntSupplier server;
  private final GroupSlabs slabs;

  /** The extents on {@code server}, which has no number before it has joined its cluster. */
  public LocalExtents(IntSupplier server, StateMachine machine) {
    this.server = server;
    this.slabs = machine.slabs();
  }

  /**
   * The extent with arena and offset there, and without a slab; null when it has no replica there.
   */
  public Extent of(Extent extent) {
    Location place = slabs.place(SlabRange.of(extent), server.getAsInt());
    return place == null
        ? null
        : extent.toBuilder().clearSlab().setArena(place.arena()).setOffset(place.offset()).build();
  }

  /** Those of {@code extents} that have a replica there. */
  public List<Extent> of(List<Extent> extents) {
    List<Extent> found = new ArrayList<>(extents.size());
    for (Extent extent : extents) {
      Extent here = of(extent);
      if (here != null) {
        found.add(here);
      }
    }
    return found;
  }

  /** The commit of what has a replica there. */
  public CommitExtents of(CommitExtents commit) {
    return commit.toBuilder().clearExtents().addAllExtents(of(commit.getExtentsList())).build();
  }
}
