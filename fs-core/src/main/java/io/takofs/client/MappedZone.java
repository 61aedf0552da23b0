package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A data zone whose arenas are mapped into this process.
 *
 * <p>Thread rule: any thread; memory is used between {@link #enter} and {@link #exit} only, because
 * closing takes it away.
 */
final class MappedZone implements DataZone {
  /** Maps peer memory; null when it is not there. */
  @FunctionalInterface
  interface Mapper {
    ByteBuffer map(long remoteAddress, int length, int rkey);
  }

  private final Map<Integer, ByteBuffer> arenas = new HashMap<>();
  private final ReentrantReadWriteLock users = new ReentrantReadWriteLock();
  private final Runnable onClose;
  private volatile boolean closed;

  /**
   * Maps all {@code arenas}.
   *
   * @param onClose undoes the mapping
   */
  MappedZone(List<RemoteArena> arenas, Mapper mapper, Runnable onClose) throws TakoException {
    this.onClose = onClose;
    for (RemoteArena arena : arenas) {
      ByteBuffer memory =
          mapper.map(arena.getAddress(), Math.toIntExact(arena.getLength()), arena.getRkey());
      if (memory == null) {
        throw new TakoException(
            Status.DISCONNECTED, "arena " + arena.getIndex() + " of the pool cannot be mapped");
      }
      this.arenas.put(arena.getIndex(), memory);
    }
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  /** Keeps the memory mapped until {@link #exit}; false when it is gone. */
  boolean enter() {
    if (!users.readLock().tryLock()) {
      return false;
    }
    if (closed) {
      users.readLock().unlock();
      return false;
    }
    return true;
  }

  void exit() {
    users.readLock().unlock();
  }

  /** All of an arena, little-endian; only absolute access. */
  ByteBuffer arena(int index) throws TakoException {
    ByteBuffer memory = arenas.get(index);
    if (memory == null) {
      throw new TakoException(
          Status.INTERNAL, "the server named arena " + index + ", which it has not shown");
    }
    return memory;
  }

  @Override
  public void close() {
    users.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        arenas.clear();
        onClose.run();
      }
    } finally {
      users.writeLock().unlock();
    }
  }
}
