package io.takofs.server.zone;

import io.takofs.proto.Arenas;
import io.takofs.server.extent.Location;
import java.util.List;
import java.util.Set;

/**
 * The extents that readers access in place. They are not granted again while a reader holds them,
 * even after the file is deleted or the connection ends.
 *
 * <p>Thread rule: any thread.
 */
public interface ReaderHolds {
  /** No reader holds anything: for a server that no reader shares memory with. */
  ReaderHolds NONE =
      new ReaderHolds() {
        @Override
        public Set<Location> held(List<Location> extents) {
          return Set.of();
        }

        @Override
        public void describe(Arenas.Builder arenas) {}
      };

  /** Those of {@code extents} that somebody may be looking at. */
  Set<Location> held(List<Location> extents);

  /** Adds what a reader needs to hold extents. */
  void describe(Arenas.Builder arenas);
}
