package io.takofs.server.extent;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;

/**
 * The range of an extent: bytes {@code offset .. offset + capacity} of a slab, both multiples of
 * UNIT_SIZE. It is the same range of every replica of the slab.
 */
public record SlabRange(long slab, int offset, int capacity) implements Comparable<SlabRange> {
  /** Units of a slab of full length. */
  public static final int SLAB_UNITS = Layout.SLAB_SIZE / Layout.UNIT_SIZE;

  /** The range that a client names; any numbers may be in it. */
  public static SlabRange of(Extent extent) {
    return new SlabRange(extent.getSlab(), extent.getOffset(), extent.getCapacity());
  }

  static SlabRange ofUnits(long slab, int unit, int units) {
    return new SlabRange(slab, unit * Layout.UNIT_SIZE, units * Layout.UNIT_SIZE);
  }

  /** This range, for a message. */
  public Extent.Builder toProto() {
    return Extent.newBuilder().setSlab(slab).setOffset(offset).setCapacity(capacity);
  }

  /** The same bytes of a replica, in its arena. */
  public Location in(Replica replica) {
    return new Location(
        replica.getArena(), replica.getIndex() * Layout.SLAB_SIZE + offset, capacity);
  }

  /** Position in the slab, units. */
  public int unit() {
    return offset / Layout.UNIT_SIZE;
  }

  int units() {
    return capacity / Layout.UNIT_SIZE;
  }

  /** Whether it begins at a unit of a slab. */
  boolean isOfUnits() {
    return offset >= 0 && offset < Layout.SLAB_SIZE && offset % Layout.UNIT_SIZE == 0;
  }

  @Override
  public int compareTo(SlabRange other) {
    int bySlab = Long.compareUnsigned(slab, other.slab);
    return bySlab != 0 ? bySlab : Integer.compareUnsigned(offset, other.offset);
  }
}
