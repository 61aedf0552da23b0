package io.takofs.server.pool;

import io.takofs.base.Facts;
import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the pool of a server that starts. A new pool is formatted only where none was, where a boot
 * explains that it is gone, or on demand: an empty pool instead of a full one looks as if all files
 * had been deleted.
 *
 * <p>Thread rule: one thread.
 */
public final class PoolStart {
  private static final Logger LOG = LoggerFactory.getLogger(PoolStart.class);

  private final Path path;
  private final PoolSizes sizes;
  private final PoolMarkers markers;

  /** Whether this start formatted a pool, and made the directory for it. */
  private boolean formatted;

  private boolean madeDirectory;
  private Condition condition = () -> {};

  /** Something without which an empty pool would be formatted in vain, which may take minutes. */
  @FunctionalInterface
  public interface Condition {
    /** Throws what is to be told instead. */
    void check() throws TakoException;
  }

  /**
   * @param sizes of a new pool
   * @param markers of pools that there were
   */
  public PoolStart(Path path, PoolSizes sizes, PoolMarkers markers) {
    this.path = path;
    this.sizes = sizes;
    this.markers = markers;
  }

  /** Formats an empty pool only if {@code only} holds. */
  public void formatOnlyIf(Condition only) {
    condition = only;
  }

  /**
   * Opens the pool; formats one first if there is none and that is no surprise.
   *
   * @throws TakoException NOT_FOUND when a pool was here and is gone without a reason; CORRUPT when
   *     its files are here but not its superblock; else as {@link Pool}
   */
  public Pool open() throws TakoException {
    if (!PoolDirectory.isFormatted(path)) {
      checkNotDamaged();
      checkNoneLost();
      formatEmpty();
    }
    return remembered(Pool.openOrFormat(path, sizes));
  }

  /**
   * Formats an empty pool, whatever was there before, and opens it.
   *
   * @throws TakoException ALREADY_EXISTS when there is a pool, CORRUPT when there are files of one
   *     without its superblock; else as {@link Pool}
   */
  public Pool format() throws TakoException {
    if (!PoolDirectory.isFormatted(path)) {
      checkNotDamaged();
    }
    formatEmpty();
    return remembered(Pool.open(path));
  }

  /**
   * Removes the pool and its marker if this start formatted it; a pool that was there stays. Call
   * it after closing the pool.
   */
  public void undoFormat() throws IOException {
    if (!formatted) {
      return;
    }
    formatted = false;
    if (madeDirectory) {
      Pool.delete(path);
    } else {
      PoolDirectory.empty(path);
    }
    markers.forget(path);
  }

  private void formatEmpty() throws TakoException {
    condition.check();
    boolean missing = !Ownership.exists(path);
    if (!PoolDirectory.isFormatted(path)) {
      forgetLost();
    }
    Pool.format(path, sizes);
    formatted = true;
    madeDirectory = missing;
    Facts.of("bytes", sizes.total()).and("pool", path).info(LOG, "an empty pool was formatted");
  }

  /**
   * A format that was killed leaves files without a superblock as well, but no marker: the marker
   * is removed before a format and written after it.
   */
  private void checkNotDamaged() throws TakoException {
    if (!Files.exists(markers.file(path)) || !PoolDirectory.hasBytes(path)) {
      return;
    }
    Path meta = PoolDirectory.existing(path).meta();
    throw new TakoException(
        Status.CORRUPT,
        path
            + " holds the files of a pool that is damaged: "
            + meta
            + (Files.exists(meta) ? " begins with zeros instead of a superblock" : " is missing")
            + ", though a pool was in use here (its marker is "
            + markers.file(path)
            + "); keep a copy of the files, move them away, then start once with `tako server"
            + " --format` for an empty pool");
  }

  private void forgetLost() throws TakoException {
    if (!Files.exists(markers.file(path))) {
      return;
    }
    if (Ownership.exists(path)) {
      PoolDirectory.existing(path).checkFormattable(); // else the marker is still wanted
    }
    try {
      markers.forget(path);
    } catch (IOException e) {
      throw PoolDirectory.failed(markers.file(path), "remove", e);
    }
  }

  private void checkNoneLost() throws TakoException {
    PoolMarker lost = markers.find(path).orElse(null);
    if (lost == null) {
      return;
    }
    String what = "pool %s, made at %s on %s".formatted(lost.id(), lost.made(), lost.fileSystem());
    String now = fileSystem(path);
    if (!lost.isExplainedByBoot(now, markers.boot())) {
      throw new TakoException(
          Status.NOT_FOUND,
          path
              + " held "
              + what
              + "; no pool is there now (on "
              + now
              + "): did logind remove it (RemoveIPC), is another file system mounted there, or is"
              + " fs.tako.server.pool.path wrong? If its files are lost or not wanted, start once"
              + " with `tako server --format`, or remove "
              + markers.file(path));
    }
    LOG.warn(
        "{} held {}; the machine or container was started since and its memory is gone: an empty"
            + " pool is formatted",
        path,
        what);
  }

  /** Without a marker the server works as well; only the loss of its pool would go unnoticed. */
  private Pool remembered(Pool pool) {
    try {
      String fileSystem = fileSystem(path);
      if (!PoolMarker.isMemory(fileSystem)) {
        LOG.warn(
            "{} is on {}: unless that is persistent memory (DAX), the kernel also writes all that the"
                + " pool holds to the disk, and is slow; set fs.tako.server.pool.path to a directory on"
                + " tmpfs or hugetlbfs",
            path,
            fileSystem);
      }
      markers.remember(path, pool.identity().poolId(), fileSystem);
    } catch (IOException e) {
      LOG.warn(
          "cannot write {} ({}): if the pool vanishes, the next start formats an empty one; set"
              + " fs.tako.server.state.dir to a directory on a disk",
          markers.file(path),
          e.toString());
    }
    return pool;
  }

  private static String fileSystem(Path path) throws TakoException {
    Path there = path.toAbsolutePath().normalize();
    while (!Files.exists(there)) {
      there = there.getParent();
    }
    try {
      return Files.getFileStore(there).type();
    } catch (IOException e) {
      throw PoolDirectory.failed(there, "look at the file system of", e);
    }
  }
}
