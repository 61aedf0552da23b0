package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Arenas;
import io.takofs.server.extent.Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds as locks, shared by readers, of the ranges of the pool's data file. The kernel keeps them
 * for as long as the reader's process lives and wants them, over the end of its session and of the
 * server, and nobody has to renew them.
 *
 * <p>Thread rule: any thread.
 */
final class PoolHolds implements ReaderHolds, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PoolHolds.class);

  private final NativeFile file;
  private final String path;
  private final long device;
  private final long inode;

  /** Of the pool whose data is in the file at {@code data}. */
  PoolHolds(Path data) throws IOException {
    this.path = data.toRealPath().toString();
    this.file = NativeFile.open(data, 0);
    this.device = ((Number) Files.getAttribute(file.self(), "unix:dev")).longValue();
    this.inode = ((Number) Files.getAttribute(file.self(), "unix:ino")).longValue();
  }

  @Override
  public boolean isHeld(Location extent) {
    try {
      return file.isLockedByOther(
          extent.arena() * (long) Layout.ARENA_SIZE + extent.offset(), extent.capacity());
    } catch (TakoException e) {
      LOG.warn("{}: it is kept until that can be told", e.getMessage());
      return true;
    }
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
