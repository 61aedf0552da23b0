package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Arenas;
import io.takofs.server.extent.Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds as locks, shared by readers, of the ranges of the pool's data file. The kernel keeps them
 * for as long as the reader's process lives and wants them, over the end of its session and of the
 * server, and nobody has to renew them.
 *
 * <p>Thread rule: any thread.
 */
public final class PoolHolds implements ReaderHolds, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PoolHolds.class);

  private final NativeFile file;
  private final String path;
  private final long device;
  private final long inode;

  /** Of the pool whose data is in the file at {@code data}. */
  public PoolHolds(Path data) throws IOException {
    this.path = data.toRealPath().toString();
    this.file = NativeFile.open(data, 0);
    this.device = ((Number) Files.getAttribute(file.self(), "unix:dev")).longValue();
    this.inode = ((Number) Files.getAttribute(file.self(), "unix:ino")).longValue();
  }

  /**
   * Asks for ranges of many extents first, and for halves of those in which something is locked:
   * the kernel goes through all locks of the file for each question, and mostly none is there.
   */
  @Override
  public Set<Location> held(List<Location> extents) {
    Set<Location> held = new HashSet<>();
    collect(extents.stream().sorted().toList(), held);
    return held;
  }

  private void collect(List<Location> sorted, Set<Location> held) {
    if (sorted.isEmpty() || !isLocked(begin(sorted.get(0)), end(sorted.get(sorted.size() - 1)))) {
      return;
    }
    if (sorted.size() == 1) {
      held.add(sorted.get(0));
      return;
    }
    int middle = sorted.size() / 2;
    collect(sorted.subList(0, middle), held);
    collect(sorted.subList(middle, sorted.size()), held);
  }

  private boolean isLocked(long begin, long end) {
    try {
      return file.isLockedByOther(begin, end - begin);
    } catch (TakoException e) {
      LOG.warn("{}: what is there is kept until that can be told", e.getMessage());
      return true;
    }
  }

  /** The offset of an extent in the file. */
  private static long begin(Location extent) {
    return extent.arena() * (long) Layout.ARENA_SIZE + extent.offset();
  }

  private static long end(Location extent) {
    return begin(extent) + extent.capacity();
  }

  @Override
  public void describe(Arenas.Builder arenas) {
    arenas.setDataFile(path).setDataDevice(device).setDataInode(inode);
  }

  @Override
  public void close() {
    file.close();
  }
}
