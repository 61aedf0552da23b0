package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Phaser;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The arenas as one transport shows them to connections.
 *
 * <p>Where it has memory windows, each connection has an export of its own, for reading only, and
 * is given windows to write ({@link WriteWindows}). Registering a large pool takes seconds, so
 * exports are made ahead, one at a time, by an executor; a connection that finds none is refused
 * and tried again by its client. Exports of ended connections are used again: a key of one pair is
 * not valid for another. Elsewhere all connections share one export, for reading and writing, and a
 * client is kept out by ending its connection.
 *
 * <p>Thread rule: any thread; only {@link #close} waits, for an export that is being made.
 */
public final class ArenaExports implements AutoCloseable {
  /** Exports that are made ahead. */
  static final int AHEAD = 2;

  /** Exports that are kept when connections end. */
  static final int SPARE_MAX = 16;

  private static final Logger LOG = LoggerFactory.getLogger(ArenaExports.class);

  private final Transport transport;
  private final List<MappedMemory> arenas;
  private final Executor registering;
  private final ArenaExport shared; // null where each connection has its own
  private final ArrayDeque<ArenaExport> spare = new ArrayDeque<>();
  private final Map<ProtectionDomain, ArenaExport> used = new HashMap<>();
  private final Phaser tasks = new Phaser(1); // of the executor, and who closes
  private boolean making;
  private boolean closed;
  private String failure; // of the last export that was made ahead; null when it was none

  /**
   * Makes the first export at once, so that a host that does not let so much be registered is found
   * out.
   *
   * @param registering makes and closes exports; it runs what it was given until this is closed
   */
  ArenaExports(Transport transport, List<MappedMemory> arenas, Executor registering)
      throws IOException {
    this.transport = transport;
    this.arenas = arenas;
    this.registering = registering;
    ArenaExport first = new ArenaExport(transport, arenas);
    this.shared = transport.hasMemoryWindows() ? null : first;
    if (shared == null) {
      spare.push(first);
      refill();
    }
  }

  /**
   * Takes the export for a new connection, until {@link #giveBack}.
   *
   * @throws TakoException BUSY when none is left at the moment, UNAVAILABLE when the last one could
   *     not be registered
   */
  public ArenaExport take() throws TakoException {
    if (shared != null) {
      return shared;
    }
    try {
      return takeSpare();
    } finally {
      refill();
    }
  }

  private synchronized ArenaExport takeSpare() throws TakoException {
    ArenaExport export = spare.poll();
    if (export == null) {
      throw new TakoException(
          failure == null ? Status.BUSY : Status.UNAVAILABLE,
          failure == null
              ? "the pool is being registered for one more connection; try again"
              : failure);
    }
    used.put(export.domain(), export);
    return export;
  }

  private void refill() {
    synchronized (this) {
      if (closed || making || spare.size() >= AHEAD) {
        return;
      }
      making = true;
    }
    submit(this::make);
  }

  private void make() {
    ArenaExport made = null;
    String problem = "the server had no memory to register the pool";
    try {
      if (!isClosed()) {
        made = new ArenaExport(transport, arenas);
      }
      problem = null;
    } catch (IOException | RuntimeException e) {
      problem = "the pool cannot be registered for one more connection: " + e.getMessage();
    } finally {
      keep(made, problem);
    }
    if (made != null) {
      refill();
    }
  }

  private void keep(ArenaExport made, String problem) {
    synchronized (this) {
      making = false;
      if (problem != null && failure == null) { // clients that try again need not be logged
        LOG.warn("{}: {}", transport.name(), problem);
      }
      failure = problem;
      if (!closed) {
        if (made != null) {
          spare.push(made);
        }
        return;
      }
    }
    if (made != null) {
      made.close();
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  /** The taken export with this domain. */
  public synchronized ArenaExport of(ProtectionDomain domain) {
    return shared != null ? shared : used.get(domain);
  }

  /** The connection it was taken for is closed, or was never made. */
  public void giveBack(ArenaExport export) {
    if (export == shared) {
      return;
    }
    synchronized (this) {
      used.remove(export.domain());
      if (!closed && spare.size() < SPARE_MAX) {
        spare.push(export);
        return;
      }
    }
    submit(export::close);
  }

  /** Hands a task to the executor, which {@link #close} waits for. */
  private void submit(Runnable task) {
    tasks.register();
    try {
      registering.execute(() -> run(task));
    } catch (RejectedExecutionException e) {
      run(task); // the server stops, and nobody waits for this thread
    }
  }

  private void run(Runnable task) {
    try {
      task.run();
    } finally {
      tasks.arriveAndDeregister();
    }
  }

  /** Closes what no connection uses, and waits for what is under way. */
  @Override
  public void close() {
    List<ArenaExport> left;
    synchronized (this) {
      closed = true;
      left = List.copyOf(spare);
      spare.clear();
    }
    left.forEach(ArenaExport::close);
    if (shared != null) {
      shared.close();
    }
    tasks.arriveAndAwaitAdvance();
  }
}
