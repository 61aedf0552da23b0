package io.takofs.sim;

import io.takofs.proto.Arenas;
import io.takofs.server.extent.Location;
import io.takofs.server.zone.ReaderHolds;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The extents that simulated readers look at in place. */
public final class SimHolds implements ReaderHolds {
  private final List<Location> held = new ArrayList<>();

  public void hold(Location extent) {
    held.add(extent);
  }

  public void release(Location extent) {
    held.remove(extent);
  }

  @Override
  public Set<Location> held(List<Location> extents) {
    Set<Location> found = new LinkedHashSet<>();
    for (Location extent : extents) {
      if (held.stream().anyMatch(mine -> overlaps(mine, extent))) {
        found.add(extent);
      }
    }
    return found;
  }

  private static boolean overlaps(Location one, Location other) {
    return one.arena() == other.arena()
        && one.offset() < other.offset() + other.capacity()
        && other.offset() < one.offset() + one.capacity();
  }

  @Override
  public void describe(Arenas.Builder arenas) {}
}
