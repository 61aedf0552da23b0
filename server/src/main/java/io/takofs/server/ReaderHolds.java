package io.takofs.server;

import io.takofs.proto.Arenas;
import io.takofs.server.extent.Location;

/**
 * Which extents readers look at where they lie. Those are not given to anybody else, whatever
 * becomes of their file and of the reader's connection.
 *
 * <p>Thread rule: any thread.
 */
public interface ReaderHolds {
  /** Nobody does: for a server that no reader shares memory with. */
  ReaderHolds NONE =
      new ReaderHolds() {
        @Override
        public boolean isHeld(Location extent) {
          return false;
        }

        @Override
        public void describe(Arenas.Builder arenas) {}
      };

  /** Whether somebody may be looking at {@code extent}. */
  boolean isHeld(Location extent);

  /** Adds what a reader needs to hold extents. */
  void describe(Arenas.Builder arenas);
}
