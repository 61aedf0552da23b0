package io.takofs.server.extent;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;

/**
 * The location of an extent: bytes {@code offset .. offset + capacity} of an arena, both multiples
 * of UNIT_SIZE.
 */
public record Location(int arena, int offset, int capacity) implements Comparable<Location> {
  /** The location that a client names; any numbers may be in it. */
  public static Location of(Extent extent) {
    return new Location(extent.getArena(), extent.getOffset(), extent.getCapacity());
  }

  /** This location, for a message. */
  public Extent.Builder toProto() {
    return Extent.newBuilder().setArena(arena).setOffset(offset).setCapacity(capacity);
  }

  /** Position in the arena, units. */
  public int unit() {
    return offset / Layout.UNIT_SIZE;
  }

  @Override
  public int compareTo(Location other) {
    int byArena = Integer.compareUnsigned(arena, other.arena);
    return byArena != 0 ? byArena : Integer.compareUnsigned(offset, other.offset);
  }
}
