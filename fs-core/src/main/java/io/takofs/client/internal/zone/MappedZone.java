package io.takofs.client.internal.zone;

import io.takofs.base.TakoException;
import io.takofs.proto.Arenas;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Status;
import io.takofs.transport.QueuePair;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A data zone whose arenas are mapped into this process, each when it is first wanted.
 *
 * <p>The mapping may be taken away at any time, when the connection ends: from then on stores go
 * nowhere and loads see anything. So a writer asks {@link #isOpen} after its stores: if it still is
 * open, the bytes are placed. A reader verifies its loads.
 *
 * <p>Thread rule: any thread.
 */
public final class MappedZone implements DataZone {
  private final Map<Integer, RemoteArena> known = new HashMap<>();
  private final Map<Integer, MappedArena> mapped = new ConcurrentHashMap<>();
  private final Function<RemoteArena, ByteBuffer> mapper;
  private final BooleanSupplier attached;
  private final Runnable detach;
  private final Supplier<PoolFile> opener;
  private PoolFile file;
  private boolean closed;

  /**
   * A zone.
   *
   * @param mapper maps an arena, little-endian; gives null when the connection has ended
   * @param attached whether stores reach the server
   * @param detach ends that
   * @param opener of the file that is mapped; it may give null
   */
  public MappedZone(
      List<RemoteArena> arenas,
      Function<RemoteArena, ByteBuffer> mapper,
      BooleanSupplier attached,
      Runnable detach,
      Supplier<PoolFile> opener) {
    this.opener = opener;
    this.mapper = mapper;
    this.attached = attached;
    this.detach = detach;
    arenas.forEach(arena -> known.put(arena.getIndex(), arena));
  }

  /** The zone as {@code pair} maps it; {@code detach} ends the pair. */
  public static MappedZone over(QueuePair pair, Arenas shown, Runnable detach) {
    return new MappedZone(
        shown.getArenasList(),
        arena -> pair.map(arena.getAddress(), Math.toIntExact(arena.getLength()), arena.getRkey()),
        () -> pair.state() == QueuePair.State.CONNECTED,
        detach,
        () -> PoolFile.open(shown));
  }

  @Override
  public boolean isOpen() {
    return attached.getAsBoolean();
  }

  /**
   * All of an arena, little-endian, for absolute access; null when the connection has ended or is
   * about to: a server on its way down takes its memory away before the client learns of it.
   *
   * @throws TakoException when there is no such arena
   */
  public ByteBuffer arena(int index) throws TakoException {
    MappedArena arena = mappedArena(index);
    return arena == null ? null : arena.bytes();
  }

  /** As {@link #arena}, of {@code place}, which is about to be written. */
  public ByteBuffer writable(Place place) throws TakoException {
    MappedArena arena = mappedArena(place.arena());
    if (arena == null) {
      return null;
    }
    arena.makePresent(place);
    return arena.bytes();
  }

  private MappedArena mappedArena(int index) throws TakoException {
    MappedArena arena = mapped.get(index);
    return arena != null ? arena : map(index);
  }

  private synchronized MappedArena map(int index) throws TakoException {
    RemoteArena arena = known.get(index);
    if (arena == null) {
      throw new TakoException(Status.INTERNAL, "the server has named no arena " + index);
    }
    ByteBuffer memory = mapper.apply(arena);
    return memory == null ? null : mapped.computeIfAbsent(index, absent -> new MappedArena(memory));
  }

  /** The file that is mapped, to look at what is in it in place; null when that cannot be done. */
  public synchronized PoolFile file() {
    if (file == null && !closed) {
      file = opener.get();
    }
    return file;
  }

  @Override
  public void close() {
    detach.run();
    synchronized (this) {
      closed = true;
      if (file != null) {
        file.close();
        file = null;
      }
    }
  }
}
