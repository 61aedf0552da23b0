package io.takofs.client.internal.zone;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Arenas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of a server's data zone, mapped for reading, and what of it this process holds: the
 * server gives a held extent to nobody. Unlike the mapping of a connection, this one stays when the
 * connection or the server goes; it goes when nobody can reach a byte of it any more. One for all
 * clients of this process, because one client must not release the range that another one holds.
 *
 * <p>Thread rule: any thread.
 */
public final class PoolFile {
  /** Extents held at a time by this process; they make the server's look at each slower. */
  static final int HELD_MAX = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(PoolFile.class);

  private static final Map<Identity, PoolFile> OPEN = new HashMap<>();

  private record Identity(long device, long inode) {}

  /** Bytes of the file. */
  private record Range(long offset, long length) {
    static Range of(Place place) {
      return new Range(place.arena() * (long) Layout.ARENA_SIZE + place.offset(), place.capacity());
    }

    long end() {
      return offset + length;
    }
  }

  private final Identity identity;
  private final NativeFile file;
  private final Map<Integer, Long> arenaLengths = new HashMap<>();
  private final Map<Integer, MappedMemory> arenas = new HashMap<>();
  private final NavigableMap<Range, Integer> held =
      new TreeMap<>(Comparator.comparingLong(Range::offset).thenComparingLong(Range::length));
  private int users;
  private boolean closed;

  private PoolFile(Identity identity, NativeFile file, Arenas shown) {
    this.identity = identity;
    this.file = file;
    shown.getArenasList().forEach(arena -> arenaLengths.put(arena.getIndex(), arena.getLength()));
  }

  /**
   * The file that the server names, until {@link #close}; null when this process cannot open it, or
   * finds another there.
   */
  public static PoolFile open(Arenas shown) {
    if (shown.getDataFile().isEmpty()) {
      return null;
    }
    Identity identity = new Identity(shown.getDataDevice(), shown.getDataInode());
    synchronized (OPEN) {
      PoolFile known = OPEN.get(identity);
      try {
        known = known == null ? tryOpen(identity, shown) : known;
      } catch (IOException e) {
        LOG.debug("zero-copy unavailable, copying: {}", e.getMessage());
      }
      if (known != null) {
        known.users++;
        OPEN.put(identity, known);
      }
      return known;
    }
  }

  private static PoolFile tryOpen(Identity identity, Arenas shown) throws IOException {
    try (Undo undo = new Undo()) {
      NativeFile file = undo.add(NativeFile.open(Path.of(shown.getDataFile()), 0));
      Number device = (Number) Files.getAttribute(file.self(), "unix:dev");
      Number inode = (Number) Files.getAttribute(file.self(), "unix:ino");
      if (!identity.equals(new Identity(device.longValue(), inode.longValue()))) {
        throw new IOException(file.path() + " is not the file that the server means");
      }
      PoolFile opened = new PoolFile(identity, file, shown);
      undo.keep();
      return opened;
    }
  }

  /** The opener has closed it; each hold lasts until its own release. */
  void close() {
    synchronized (OPEN) {
      users--;
      closeUnused();
    }
  }

  private void closeUnused() {
    if (users == 0 && held.isEmpty()) {
      closed = true;
      OPEN.remove(identity, this);
      file.close();
    }
  }

  /**
   * Holds the extent at {@code place} once more. The caller then has to check that it still belongs
   * to the file: the server may have given it to another one before the hold.
   *
   * @return false when it cannot be
   */
  public boolean hold(Place place) {
    Range range = Range.of(place);
    synchronized (OPEN) {
      Integer times = held.get(range);
      try {
        if (times == null && (isFull(range) || !file.tryShare(range.offset, range.length))) {
          return false;
        }
      } catch (TakoException e) {
        LOG.debug("zero-copy unavailable, copying: {}", e.getMessage());
        return false;
      }
      held.put(range, times == null ? 1 : times + 1);
      return true;
    }
  }

  /**
   * Whether nothing more can be held there. The locks of this process have one owner: releasing a
   * range would release its overlap with another hold too.
   */
  private boolean isFull(Range range) {
    Range before = held.lowerKey(range);
    Range after = held.higherKey(range);
    return closed
        || held.size() == HELD_MAX
        || (before != null && before.end() > range.offset)
        || (after != null && after.offset < range.end());
  }

  /** Holds the extent at {@code place} once less. */
  public void release(Place place) {
    Range range = Range.of(place);
    synchronized (OPEN) {
      int times = held.get(range);
      if (times > 1) {
        held.put(range, times - 1);
        return;
      }
      held.remove(range);
      try {
        file.unshare(range.offset, range.length);
      } catch (TakoException e) {
        LOG.warn("{}: the extent is held until this process ends", e.getMessage());
      }
      closeUnused();
    }
  }

  /** Extents that are held. */
  int heldCount() {
    synchronized (OPEN) {
      return held.size();
    }
  }

  /** All of an arena, to be read only; mapped as long as somebody has it or a part of it. */
  public MappedMemory arena(int index) throws IOException {
    synchronized (OPEN) {
      MappedMemory mapped = arenas.get(index);
      if (closed) {
        throw new IOException(file.path() + " is closed");
      }
      if (mapped == null) {
        mapped = map(index);
        arenas.put(index, mapped);
      }
      return mapped;
    }
  }

  private MappedMemory map(int index) throws IOException {
    Long length = arenaLengths.get(index);
    if (length == null) {
      throw new IOException("the server has named no arena " + index);
    }
    return file.map(index * (long) Layout.ARENA_SIZE, length, 0);
  }
}
