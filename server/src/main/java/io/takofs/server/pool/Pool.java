package io.takofs.server.pool;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.server.store.PagedStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open pool: its identity, its zones mapped and pre-faulted, and the lock that keeps other
 * servers out.
 *
 * <p>Errors of {@link #format} and {@link #open}, each naming path, reason and remedy:
 * INVALID_ARGUMENT (sizes, a directory of something else), VERSION_MISMATCH, CORRUPT (superblock,
 * truncated file), UNAVAILABLE (a live server holds it), NO_SPACE, PERMISSION_DENIED, NOT_FOUND,
 * ALREADY_EXISTS (format only).
 *
 * <p>Thread rule: open and close from one thread; the accessors from any.
 */
public final class Pool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Pool.class);

  private final PoolDirectory directory;
  private final PoolLock lock;
  private volatile Superblock superblock;
  private final Zones zones;
  private final Path shm;

  /** The mappings of an open pool. */
  private record Zones(
      MappedMemory header,
      MappedMemory pages,
      MappedMemory log,
      MappedMemory slabs,
      List<MappedMemory> arenas) {
    void close() {
      arenas.forEach(MappedMemory::close);
      slabs.close();
      log.close();
      pages.close();
      header.close();
    }
  }

  private Pool(
      PoolDirectory directory, PoolLock lock, Superblock superblock, Zones zones, Path shm) {
    this.directory = directory;
    this.lock = lock;
    this.superblock = superblock;
    this.zones = zones;
    this.shm = shm;
  }

  /**
   * Makes an empty pool in {@code path}, a directory that is empty, absent, or holds a format that
   * did not finish. All of its memory is allocated here.
   */
  static void format(Path path, PoolSizes sizes) throws TakoException {
    sizes.checked();
    PoolDirectory directory = PoolDirectory.create(path);
    directory.checkFormattable(); // before the lock leaves a file where none belongs
    PoolLock lock = PoolLock.acquire(directory);
    try {
      directory.checkFormattable();
      directory.allocate(sizes);
      PoolIdentity identity = new PoolIdentity(new SecureRandom().nextLong(), 0, 0);
      Superblock fresh = new Superblock(identity, 0, 1, 0, sizes);
      try (MappedMemory header = map(directory.meta(), 0, Layout.POOL_ALIGN);
          MappedMemory pages = map(directory.meta(), sizes.pageOffset(), sizes.pages())) {
        PagedStore.format(pages);
        write(fresh, header);
      }
    } finally {
      lock.close();
    }
  }

  /** Bytes of the pool in {@code path}, which another process may have open. */
  public static long size(Path path) throws TakoException {
    return PoolDirectory.existing(path).readSuperblock().sizes().total();
  }

  /** Opens the pool in {@code path} and makes this process its owner until {@link #close}. */
  static Pool open(Path path) throws TakoException {
    PoolDirectory directory = PoolDirectory.existing(path);
    directory.readSuperblock(); // before the lock leaves a file where none belongs
    List<MappedMemory> mapped = new ArrayList<>();
    try (Undo undo = new Undo()) {
      PoolLock lock = undo.add(PoolLock.acquire(directory));
      undo.add(() -> mapped.forEach(MappedMemory::close));
      directory.closeToOthers();
      PoolSizes sizes = directory.readSuperblock().sizes();
      directory.checkLengths(sizes);
      MappedMemory header = map(mapped, directory.meta(), 0, Layout.POOL_ALIGN);
      MappedMemory pages = map(mapped, directory.meta(), sizes.pageOffset(), sizes.pages());
      MappedMemory log = map(mapped, directory.meta(), sizes.logOffset(), sizes.log());
      MappedMemory slabs = map(mapped, directory.meta(), sizes.slabOffset(), sizes.slabs());
      List<MappedMemory> arenas = new ArrayList<>();
      for (int i = 0; i < sizes.arenas(); i++) {
        long offset = (long) i * Layout.ARENA_SIZE;
        arenas.add(map(mapped, directory.data(), offset, sizes.arenaLength(i)));
      }
      Superblock superblock = takeOver(directory, header);
      Zones zones = new Zones(header, pages, log, slabs, List.copyOf(arenas));
      Path shm = directory.shm(superblock.identity().poolId());
      Pool pool = new Pool(directory, lock, superblock, zones, shm);
      undo.keep();
      return pool;
    }
  }

  /**
   * Removes the pool at {@code path}, which nobody has open, and the directory unless something
   * else is in it.
   *
   * @return whether nothing is left; where no pool is nothing is touched
   */
  public static boolean delete(Path path) throws IOException {
    return PoolDirectory.delete(path);
  }

  /** Opens the pool in {@code path}, formatting it first if there is none. */
  public static Pool openOrFormat(Path path, PoolSizes sizes) throws TakoException {
    if (!PoolDirectory.isFormatted(path)) {
      format(path, sizes);
    }
    Pool pool = open(path);
    if (!pool.sizes().equals(sizes)) {
      LOG.warn(
          "the pool in {} keeps the size it was formatted with, {} bytes; {} are configured: remove"
              + " the directory, and all its files, and start with --format for another size",
          path,
          pool.sizes().total(),
          sizes.total());
    }
    return pool;
  }

  private static Superblock takeOver(PoolDirectory directory, MappedMemory header)
      throws TakoException {
    ByteBuffer area = header.slice(0, Superblock.AREA);
    Superblock last = Superblock.read(area, directory.meta().toString());
    if (!Superblock.bothValid(area)) {
      LOG.warn("{}: one copy of the superblock was damaged and is written anew", directory.meta());
    }
    Superblock next =
        new Superblock(
            last.identity(),
            last.epoch() + 1,
            last.writeSequence() + 1,
            ProcessHandle.current().pid(),
            last.sizes());
    write(next, header);
    return next;
  }

  private static void write(Superblock superblock, MappedMemory header) {
    superblock.write(header.slice(0, Superblock.AREA), offset -> persist(header, offset));
  }

  private static void persist(MappedMemory header, int offset) {
    if (!header.isDurable()) {
      return;
    }
    try {
      header.persist(offset, Layout.SUPERBLOCK_SIZE);
    } catch (IOException e) {
      throw new UncheckedIOException("superblock cannot be made durable", e);
    }
  }

  private static MappedMemory map(List<MappedMemory> mapped, Path file, long offset, long length)
      throws TakoException {
    MappedMemory memory = map(file, offset, length);
    mapped.add(memory);
    return memory;
  }

  private static MappedMemory map(Path file, long offset, long length) throws TakoException {
    try {
      return MappedMemory.map(file, offset, length);
    } catch (IOException e) {
      throw PoolDirectory.failed(file, "map", e);
    }
  }

  /** The directory of files that the shared-memory transport exports, the same at every start. */
  public Path shm() {
    return shm;
  }

  /** The file of the data zone: arena after arena, {@code Layout.ARENA_SIZE} bytes each. */
  public Path data() {
    return directory.data();
  }

  /** The pool's own identity, and its server's in the cluster that it joined last. */
  public PoolIdentity identity() {
    return superblock.identity();
  }

  /**
   * Writes down which cluster the server has joined, and as which server; on a durable pool it is
   * durable when this returns. One thread calls this, any may read meanwhile.
   */
  public void join(long clusterId, int serverId) {
    Superblock last = superblock;
    PoolIdentity joined = new PoolIdentity(last.identity().poolId(), clusterId, serverId);
    if (joined.equals(last.identity())) {
      return;
    }
    Superblock next =
        new Superblock(
            joined, last.epoch(), last.writeSequence() + 1, last.ownerPid(), last.sizes());
    write(next, zones.header);
    superblock = next;
  }

  /** Incarnation of the server: one more at each open, from 1. */
  public long epoch() {
    return superblock.epoch();
  }

  PoolSizes sizes() {
    return superblock.sizes();
  }

  /** The page zone, all of this mapping. */
  public MappedMemory pages() {
    return zones.pages;
  }

  /** The log zone, all of this mapping. */
  public MappedMemory log() {
    return zones.log;
  }

  /** The slab zone, all of this mapping. */
  public MappedMemory slabs() {
    return zones.slabs;
  }

  /** The data zone: one mapping an arena, in the order extents name them. */
  public List<MappedMemory> arenas() {
    return zones.arenas;
  }

  /** Unmaps everything and lets another server in. Nothing may use the zones any more. */
  @Override
  public void close() {
    zones.close();
    lock.close();
  }
}
