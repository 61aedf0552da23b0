package io.takofs.server.zone;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.PollingTurn;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Another server's arenas over a connection of kind DATA, read one-sided into memory of its own.
 * The same reads serve every transport, shared memory included: what is verified must be a copy
 * that nobody else can change.
 *
 * <p>Extents are read in the order in which they were prefetched; a read forgets what was asked for
 * before it. One that fails leaves the connection of no use, and with it what was asked for ahead.
 *
 * <p>Thread rule: one thread, beside those of the transport.
 */
public final class RemoteSlabSource implements SlabSource {
  /** Longest wait for a connection, and for one read. */
  static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  private static final int CHECKSUMS_MAX =
      Layout.EXTENT_SIZE_MAX / Layout.GRANULE_SIZE * Integer.BYTES;

  /** Extents that are read at a time: while one is used, the next are on their way. */
  static final int PIECES = 4;

  /** Reads of an extent: its checksum entries, and its bytes. */
  private static final int READS = 2;

  private static final int PIECE_SIZE = Layout.EXTENT_SIZE_MAX + CHECKSUMS_MAX;

  private final Clock clock;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final CompletionQueue completions;
  private final QueuePair pair;
  private final PollingTurn polling;
  private final List<RemoteArena> arenas;
  private final ScatterGather local = new ScatterGather();
  private final Piece[] pieces;
  private long posts;
  private Piece lent; // what the caller has; null before the first read
  private volatile Thread reader;
  private volatile String failure; // why the connection is of no use; null while it is
  private boolean closed;

  /** Memory for an extent, and what was asked for. */
  private static final class Piece {
    final int at; // in the region
    int arena;
    int offset;
    int length; // 0 while it is free
    boolean stale; // nobody wants what was asked for
    long post;
    volatile boolean done;

    Piece(int number) {
      at = number * PIECE_SIZE;
    }

    boolean has(int ofArena, int atOffset, int ofLength) {
      return !stale && arena == ofArena && offset == atOffset && length == ofLength;
    }

    boolean isIdle() {
      return length == 0 || (stale && done);
    }
  }

  /** Asks the server which arenas the connection shows. */
  @FunctionalInterface
  public interface ArenaQuestion {
    /** All arenas, in order; asked when the connection stands. */
    List<RemoteArena> ask() throws TakoException;
  }

  /**
   * Connects to a data zone.
   *
   * @param hello private data, by which the server admits the connection
   * @throws TakoException DISCONNECTED when it cannot be reached, or what {@code arenas} throws
   */
  public RemoteSlabSource(
      Transport transport, String endpoint, byte[] hello, ArenaQuestion arenas, Clock clock)
      throws TakoException {
    this.clock = clock;
    // A read from mapped memory is done when it was posted: no time is saved by doing it early.
    pieces = new Piece[transport.name().equals("shm") ? 1 : PIECES];
    for (int i = 0; i < pieces.length; i++) {
      pieces[i] = new Piece(i);
    }
    int reads = READS * pieces.length;
    try (Undo undo = new Undo()) {
      domain = undo.add(transport.allocateProtectionDomain());
      region = undo.add(domain.allocate(pieces.length * PIECE_SIZE, Access.LOCAL));
      completions = undo.add(transport.createCompletionQueue(reads));
      QueuePairConfig config = new QueuePairConfig(domain, completions, completions, reads, 0);
      pair = undo.add(transport.connect(endpoint, config, hello, TIMEOUT_NS));
      this.arenas = List.copyOf(arenas.ask());
      polling = new PollingTurn(completions, this::poll, clock);
      undo.keep();
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(
          Status.DISCONNECTED, "no connection to the data zone at " + endpoint + ": " + e, e);
    }
  }

  @Override
  public void prefetch(int arena, int offset, int length) {
    Piece free = idle();
    boolean isKnown = arena >= 0 && arena < arenas.size();
    if (isKnown && free != null && find(arena, offset, length) == null) {
      post(free, arena, offset, length);
    }
  }

  @Override
  public void forget() {
    forgetBefore(Long.MAX_VALUE);
  }

  private void forgetBefore(long post) {
    for (Piece piece : pieces) {
      piece.stale |= piece != lent && piece.post < post;
    }
  }

  @Override
  public Bytes read(int arena, int offset, int length) throws TakoException {
    if (arena < 0 || arena >= arenas.size()) {
      throw new TakoException(Status.INTERNAL, "the server has shown no arena " + arena);
    }
    if (lent != null) {
      lent.length = 0;
      lent = null;
    }
    Piece piece = find(arena, offset, length);
    if (piece == null) {
      piece = free();
      post(piece, arena, offset, length);
    }
    forgetBefore(piece.post);
    await(piece);
    lent = piece;
    ByteBuffer memory = region.buffer();
    int checksums = length / Layout.GRANULE_SIZE * Integer.BYTES;
    return new Bytes(
        slice(memory, piece.at, length),
        slice(memory, piece.at + Layout.EXTENT_SIZE_MAX, checksums));
  }

  /** The piece of an extent; null when it was not asked for. */
  private Piece find(int arena, int offset, int length) {
    for (Piece piece : pieces) {
      if (piece.has(arena, offset, length)) {
        return piece;
      }
    }
    return null;
  }

  /** A piece that nobody waits for, and that is not read into; null when there is none. */
  private Piece idle() {
    for (Piece piece : pieces) {
      if (piece.isIdle()) {
        return piece;
      }
    }
    return null;
  }

  /** A free piece; where there is none, the oldest was asked for in vain. */
  private Piece free() throws TakoException {
    Piece free = idle();
    if (free == null) {
      free = Collections.min(List.of(pieces), Comparator.comparing(piece -> piece.post));
      await(free);
    }
    return free;
  }

  private void post(Piece piece, int arena, int offset, int length) {
    piece.arena = arena;
    piece.offset = offset;
    piece.length = length;
    piece.stale = false;
    piece.post = ++posts;
    piece.done = false;
    int checksums = length / Layout.GRANULE_SIZE * Integer.BYTES;
    if (checksums > 0) {
      int checksumsOffset = offset / Layout.GRANULE_SIZE * Integer.BYTES;
      post(-1, piece.at + Layout.EXTENT_SIZE_MAX, checksums, arena, checksumsOffset, 0);
    }
    post(piece.at / PIECE_SIZE, piece.at, length, arena, offset, QueuePair.SIGNALED);
    pair.ring();
  }

  private void await(Piece piece) throws TakoException {
    reader = Thread.currentThread();
    polling.await(() -> piece.done || failure != null, clock.nanoTime() + TIMEOUT_NS);
    if (!piece.done) {
      String why = failure == null ? "no answer in time" : failure;
      close(); // the region may still be written until the pair is closed
      throw new TakoException(Status.DISCONNECTED, why);
    }
  }

  private static ByteBuffer slice(ByteBuffer memory, int at, int length) {
    return memory.slice(at, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void post(long id, int at, int length, int arena, int offset, int flags) {
    RemoteArena remote = arenas.get(arena);
    local.clear().add(region, at, length);
    pair.read(id, local, remote.getAddress() + offset, remote.getRkey(), flags);
  }

  private synchronized void poll() {
    if (!closed) {
      completions.poll(this::onCompletion, READS * pieces.length);
    }
  }

  private void onCompletion(
      QueuePair queuePair,
      long id,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    if (status != CompletionStatus.SUCCESS) {
      failure = status + " " + pair.errorText();
    } else if (id >= 0) { // completions come in post order
      pieces[(int) id].done = true;
    }
    LockSupport.unpark(reader);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
    }
    pair.close();
    polling.end();
    synchronized (this) {
      closed = true;
      completions.close();
    }
    region.close();
    domain.close();
  }
}
