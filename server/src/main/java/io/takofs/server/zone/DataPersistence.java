package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Makes file data survive a loss of power before the log says that it is there, where the data zone
 * can do that (DAX). It is done at every commit and not only when a writer asks for it: the CRC of
 * a last, partial granule covers bytes of an earlier commit too, which must not become unreadable
 * because later ones were lost.
 *
 * <p>Cache lines are written back by the server, whoever stored them: caches are coherent, and so
 * nothing depends on the client.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class DataPersistence {
  private static final int ENTRY_SIZE = Integer.BYTES;

  private final List<Arena> arenas;
  private final CommittedLength committed;
  private final Consumer<String> onFailure;

  /** Memory that bytes can be made persistent in. */
  @FunctionalInterface
  interface Arena {
    /** Returns when {@code length} bytes from {@code offset} are persistent. */
    void persist(long offset, int length) throws IOException;
  }

  /** The number of committed, and thus persistent, bytes of an extent. */
  @FunctionalInterface
  public interface CommittedLength {
    /** Bytes of the extent at {@code fileOffset} of {@code fileId}; 0 when there is none. */
    int of(long fileId, long fileOffset);
  }

  DataPersistence(List<Arena> arenas, CommittedLength committed, Consumer<String> onFailure) {
    this.arenas = List.copyOf(arenas);
    this.committed = committed;
    this.onFailure = onFailure;
  }

  /**
   * For the arenas of a pool: does nothing unless they outlive a loss of power.
   *
   * @param onFailure hears why bytes could not be made persistent; no later attempt may count, as a
   *     medium that failed once may claim success for what it has lost
   */
  public static DataPersistence of(
      List<MappedMemory> memory, CommittedLength committed, Consumer<String> onFailure) {
    boolean durable = !memory.isEmpty() && memory.stream().allMatch(MappedMemory::isDurable);
    return new DataPersistence(
        durable ? memory.stream().<Arena>map(arena -> arena::persist).toList() : List.of(),
        committed,
        onFailure);
  }

  /** Whether there is anything to do at a commit. */
  public boolean isDurable() {
    return !arenas.isEmpty();
  }

  /**
   * Makes the bytes that {@code commit} adds, and their checksums, persistent.
   *
   * @throws UncheckedIOException when they are not; the server must stop serving
   */
  public void persist(CommitExtents commit) {
    if (arenas.isEmpty()) {
      return;
    }
    try {
      for (Extent extent : commit.getExtentsList()) {
        persist(extent, committed.of(commit.getFileId(), extent.getFileOffset()));
      }
    } catch (IOException e) {
      onFailure.accept("file data could not be made persistent: " + e);
      throw new UncheckedIOException("file data cannot be made persistent", e);
    }
  }

  private void persist(Extent extent, int from) throws IOException {
    long start = Integer.toUnsignedLong(extent.getOffset());
    long length = Integer.toUnsignedLong(extent.getLength());
    // The state machine refuses extents out of bounds.
    if (extent.getArena() < 0
        || extent.getArena() >= arenas.size()
        || length > Layout.EXTENT_SIZE_MAX
        || start + length > Layout.ARENA_SIZE
        || from >= length) {
      return;
    }
    Arena arena = arenas.get(extent.getArena());
    arena.persist(start + from, (int) length - from);
    long firstEntry = (start + from) / Layout.GRANULE_SIZE * ENTRY_SIZE;
    long endEntry = (start + length) / Layout.GRANULE_SIZE * ENTRY_SIZE;
    if (endEntry > firstEntry) {
      arena.persist(firstEntry, (int) (endEntry - firstEntry));
    }
  }
}
