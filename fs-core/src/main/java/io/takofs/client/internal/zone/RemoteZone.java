package io.takofs.client.internal.zone;

import io.takofs.base.Clock;
import io.takofs.base.Interrupts;
import io.takofs.base.TakoException;
import io.takofs.proto.Arenas;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.PollingTurn;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A data zone that is written and read by transfers of registered memory, over one queue pair.
 *
 * <p>Thread rule: any thread.
 */
public final class RemoteZone implements DataZone {
  /** Transfers under way at most; further ones wait. */
  public static final int TRANSFERS_MAX = 64;

  /** Operations under way at most: each transfer has one for bytes and one for checksums. */
  public static final int OPERATIONS_MAX = 2 * TRANSFERS_MAX;

  private static final int BATCH = 32;

  /** Longest wait for room before the waiter checks whether any thread polls. */
  private static final long TURN_NS = 1_000_000;

  /** Work request of the last operation of a transfer. */
  private static final long LAST = 1;

  /**
   * One run of bytes: of local memory, and of an arena.
   *
   * @param rkey to reach it with where {@link #keysOfExtents}, 0 for the arena's
   */
  public record Piece(
      MemoryRegion region, int regionOffset, int length, int arena, int arenaOffset, int rkey) {}

  /** A read that is posted together with others. */
  public interface Reading {
    /** Sources and targets; at least one. */
    Piece[] pieces();

    /** It is under way; also when it failed at once. */
    void posted(Transfer transfer);
  }

  private final Map<Integer, RemoteArena> arenas = new HashMap<>();
  private final QueuePair pair;
  private final Staging staging;
  private final CompletionQueue completions;
  private final Clock clock;
  private final boolean keysOfExtents;
  private final PollingTurn polling;
  private final ReadTimes times = new ReadTimes();
  private final ReentrantLock lock = new ReentrantLock();
  private final Semaphore room = new Semaphore(TRANSFERS_MAX);
  private final ArrayDeque<Transfer> underWay = new ArrayDeque<>();
  private final ScatterGather local = new ScatterGather();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Queue<OpenWindows.Window> left = new ConcurrentLinkedQueue<>();
  private volatile boolean open = true;
  private boolean released;

  /**
   * Takes over {@code pair} and {@code completions}.
   *
   * @param staging local memory that {@code pair} can transfer
   */
  public RemoteZone(
      Arenas shown, QueuePair pair, CompletionQueue completions, Staging staging, Clock clock) {
    this.clock = clock;
    this.pair = pair;
    this.staging = staging;
    this.completions = completions;
    this.keysOfExtents = shown.getKeysOfExtents();
    for (RemoteArena arena : shown.getArenasList()) {
      arenas.put(arena.getIndex(), arena);
    }
    this.polling = new PollingTurn(completions, this::poll, clock);
  }

  /** Whether to write an extent takes its own key. */
  public boolean keysOfExtents() {
    return keysOfExtents;
  }

  /** A window that was opened over this connection is not used any more; told when others are. */
  public void leave(OpenWindows.Window window) {
    left.add(window);
  }

  /** Some windows of {@link #leave}, at most {@code most}, to tell the server. */
  public List<OpenWindows.Window> takeLeft(int most) {
    List<OpenWindows.Window> taken = new ArrayList<>();
    while (taken.size() < most) {
      OpenWindows.Window next = left.poll();
      if (next == null) {
        break;
      }
      taken.add(next);
    }
    return taken;
  }

  @Override
  public boolean isOpen() {
    return open && pair.state() == QueuePair.State.CONNECTED;
  }

  /** Local memory that can be transferred. */
  public Staging staging() {
    return staging;
  }

  /**
   * Local memory of at least {@code wanted} bytes for who cannot go on without; waits for it.
   *
   * @throws TakoException NO_SPACE when there was none until the deadline
   */
  public MemoryRegion takeNeeded(int wanted, long deadlineNs) throws TakoException {
    MemoryRegion region = staging.tryTakeNeeded(wanted);
    while (region == null) {
      awaitMemory(wanted, deadlineNs);
      region = staging.tryTakeNeeded(wanted);
    }
    return region;
  }

  /**
   * Waits for a moment, in which so much local memory may come back.
   *
   * @throws TakoException NO_SPACE when the deadline is over
   */
  public void awaitMemory(long wanted, long deadlineNs) throws TakoException {
    if (clock.nanoTime() - deadlineNs >= 0) {
      throw new TakoException(
          Status.NO_SPACE,
          "this client's streams use all of the "
              + staging.budget().max()
              + " bytes of buffers it may have; close or flush some, or raise"
              + " fs.tako.client.memory.max");
    }
    if (polling.transportPolls()) {
      try (Interrupts interrupts = new Interrupts()) {
        interrupts.putOff();
        clock.parkNanos(this, TURN_NS);
      }
    } else {
      // Memory comes back when transfers end, which somebody has to look for.
      long turnNs = clock.nanoTime() + TURN_NS;
      polling.await(() -> staging.budget().hasRoomFor(wanted), turnNs);
    }
  }

  /** Writes the pieces to their places in the arenas. */
  public Transfer write(long deadlineNs, Piece... pieces) throws TakoException {
    return post(deadlineNs, true, pieces);
  }

  /** Reads the pieces from their places in the arenas. */
  public Transfer read(long deadlineNs, Piece... pieces) throws TakoException {
    return post(deadlineNs, false, pieces);
  }

  /** Gives {@code region} back once {@code transfer}, or null, does not use it any more. */
  public static void releaseAfter(Transfer transfer, Staging home, MemoryRegion region) {
    if (transfer == null) {
      home.release(region);
    } else {
      transfer.whenOver(() -> home.release(region));
    }
  }

  /**
   * Reads what all of {@code reads} want, as many as there is room for with one doorbell. Returns
   * when all are under way; each knows its transfer as soon as it is.
   */
  public void read(long deadlineNs, List<? extends Reading> reads) throws TakoException {
    for (Reading each : reads) {
      checkArenas(each.pieces());
    }
    for (int next = 0; next < reads.size(); ) {
      acquireRoom(deadlineNs);
      int end = next + 1;
      // A thread that waited while it holds buffers could deadlock with another one that does the
      // same.
      while (end < reads.size() && room.tryAcquire()) {
        end++;
      }
      List<? extends Reading> together = reads.subList(next, end);
      post(
          false,
          together.stream().map(Reading::pieces).toList(),
          (index, transfer) -> together.get(index).posted(transfer));
      next = end;
    }
  }

  private Transfer post(long deadlineNs, boolean write, Piece... pieces) throws TakoException {
    checkArenas(pieces);
    acquireRoom(deadlineNs);
    Transfer[] posted = new Transfer[1];
    post(write, Collections.singletonList(pieces), (index, transfer) -> posted[index] = transfer);
    return posted[0];
  }

  private void checkArenas(Piece... pieces) throws TakoException {
    for (Piece piece : pieces) {
      if (!arenas.containsKey(piece.arena)) {
        throw new TakoException(
            Status.INTERNAL, "the server named arena " + piece.arena + ", which it has not shown");
      }
    }
  }

  /** Is told which transfer the one at {@code index} of those posted together became. */
  @FunctionalInterface
  private interface Posted {
    void as(int index, Transfer transfer);
  }

  /** Posts transfers, for which there is room, with one doorbell. */
  private void post(boolean write, List<Piece[]> together, Posted posted) {
    List<Transfer> refused = new ArrayList<>();
    lock.lock();
    try {
      for (int index = 0; index < together.size(); index++) {
        Piece[] pieces = together.get(index);
        Transfer transfer = new Transfer(polling, clock, times, write ? 0 : bytes(pieces));
        posted.as(index, transfer);
        if (!open) {
          refused.add(transfer);
          continue;
        }
        underWay.add(transfer);
        for (int i = 0; i < pieces.length; i++) {
          stage(write, pieces[i], i == pieces.length - 1);
        }
      }
      if (refused.isEmpty()) {
        pair.ring();
      }
    } finally {
      lock.unlock();
    }
    for (Transfer transfer : refused) {
      room.release();
      transfer.fail("the data connection is closed");
    }
  }

  private static long bytes(Piece... pieces) {
    long bytes = 0;
    for (Piece piece : pieces) {
      bytes += piece.length;
    }
    return bytes;
  }

  private void stage(boolean write, Piece piece, boolean last) {
    RemoteArena arena = arenas.get(piece.arena);
    int flags = last ? QueuePair.SIGNALED : 0;
    local.clear().add(piece.region, piece.regionOffset, piece.length);
    long address = arena.getAddress() + piece.arenaOffset;
    int rkey = keysOfExtents && piece.rkey != 0 ? piece.rkey : arena.getRkey();
    if (write) {
      pair.write(last ? LAST : 0, local, address, rkey, flags);
    } else {
      pair.read(last ? LAST : 0, local, address, rkey, flags);
    }
  }

  private void acquireRoom(long deadlineNs) throws TakoException {
    boolean acquired = room.tryAcquire();
    while (!acquired && clock.nanoTime() - deadlineNs < 0) {
      long turnNs = polling.transportPolls() ? deadlineNs : clock.nanoTime() + TURN_NS;
      if (!polling.transportPolls()) {
        polling.await(() -> room.availablePermits() > 0, turnNs);
      }
      acquired =
          Interrupts.await(clock, turnNs, left -> room.tryAcquire(left, TimeUnit.NANOSECONDS));
    }
    if (!acquired) {
      throw new TakoException(
          Status.DEADLINE_EXCEEDED, "transfers of file data did not end in time");
    }
  }

  private void poll() {
    lock.lock();
    try {
      while (!released && completions.poll(this::onCompletion, BATCH) == BATCH) {
        // The batch was full: there may be more.
      }
    } finally {
      lock.unlock();
    }
  }

  private void onCompletion(
      QueuePair queuePair,
      long workRequestId,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    if (status != CompletionStatus.SUCCESS) {
      open = false;
    }
    if (workRequestId == LAST) {
      // Completions come in post order, so this is the end of the oldest transfer; whatever it
      // was, its memory is ours again only now.
      end(status == CompletionStatus.SUCCESS ? "" : status + " " + pair.errorText());
    }
  }

  private void end(String failure) {
    Transfer transfer = underWay.remove();
    room.release();
    if (failure.isEmpty()) {
      transfer.succeed();
    } else {
      transfer.fail(failure);
    }
  }

  /** Ends the connection; transfers under way fail. */
  @Override
  public void close() {
    open = false;
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    pair.close();
    polling.end();
    poll();
    lock.lock();
    try {
      if (!released) {
        released = true;
        while (!underWay.isEmpty()) {
          end("the data connection was closed");
        }
        completions.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
