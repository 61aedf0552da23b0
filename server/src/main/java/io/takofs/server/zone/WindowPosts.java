package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.extent.Location;
import io.takofs.server.zone.ExtentWindow.WindowPair;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.MemoryWindow;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The posts of one connection that open and close its peer's windows, in the order of the requests.
 * A request costs nothing; {@link #post} calls the device, which allocates windows by system calls
 * and may have to register memory.
 *
 * <p>Thread rule: any thread. Has its own lock, for {@link #post} and {@link #end}, under which
 * nothing else is taken; who calls these holds no lock that others wait for.
 */
public final class WindowPosts {
  private static final Logger LOG = LoggerFactory.getLogger(WindowPosts.class);

  /** Sends that opening or closing one extent takes, at most. */
  private static final int SENDS = 3;

  private final QueuePair pair;
  private final ArenaExport export;
  private final ConnectionInfo client;
  private final MemoryRegion word;
  private final ScatterGather sink;
  private final Queue<Operation> wanted = new ConcurrentLinkedQueue<>();
  private final Map<Long, Operation> posted = new ConcurrentHashMap<>();
  private final Queue<WindowPair> idle = new ConcurrentLinkedQueue<>();
  private long lastId;
  private boolean ended;

  /** The opening or the closing of a window. */
  record Operation(ExtentWindow window, boolean opens) {}

  /** A window that the device did not make, and why. */
  record Failure(ExtentWindow window, String why) {}

  /**
   * @param client has a word of memory that this side may read
   */
  public WindowPosts(QueuePair pair, ArenaExport export, ConnectionInfo client) throws IOException {
    this.pair = pair;
    this.export = export;
    this.client = client;
    this.word = export.domain().allocate(Long.BYTES, Access.LOCAL);
    this.sink = new ScatterGather().add(word, 0, Long.BYTES);
  }

  /** Asks for an operation, which {@link #post} begins and {@link #completed} ends. */
  void add(ExtentWindow window, boolean opens) {
    wanted.add(new Operation(window, opens));
  }

  /**
   * Begins what was asked for, as far as the queue pair has room; returns what cannot be done. When
   * something goes wrong in the middle of it, memory that is short say, the pair ends and
   * everything with it: what was asked for and is not posted would never be. The client connects
   * again.
   */
  synchronized List<Failure> post() {
    List<Failure> failures = new ArrayList<>(0);
    try {
      boolean staged = false;
      while (!ended && !wanted.isEmpty() && pair.sendSlotsFree() >= SENDS) {
        staged |= stage(wanted.remove(), failures);
      }
      if (staged) {
        pair.ring();
      }
    } catch (IOException | RuntimeException | Error e) {
      LOG.error("{} is ended: its windows cannot be posted", pair, e);
      DataConnections.tryRevoke(pair);
    }
    return failures;
  }

  private boolean stage(Operation operation, List<Failure> failures) throws IOException {
    ExtentWindow window = operation.window;
    if (!operation.opens && window.windows() == null) {
      return false; // it could not be opened
    }
    if (operation.opens) {
      try {
        window.use(takeWindows());
      } catch (TakoException e) {
        failures.add(new Failure(window, e.getMessage()));
        return false;
      }
    }
    posted.put(++lastId, operation);
    if (operation.opens) {
      stageBinding(window);
    } else {
      stageInvalidation(window);
    }
    return true;
  }

  private WindowPair takeWindows() throws TakoException {
    WindowPair used = idle.poll();
    if (used != null) {
      return used;
    }
    try (Undo undo = new Undo()) {
      MemoryWindow data = undo.add(export.domain().allocateWindow());
      WindowPair pair = new WindowPair(data, export.domain().allocateWindow());
      undo.keep();
      return pair;
    }
  }

  private void stageBinding(ExtentWindow window) throws IOException {
    Location location = window.location();
    MemoryRegion arena = export.arena(location.arena());
    WindowPair windows = window.windows();
    Access access = Access.REMOTE_READ_WRITE;
    pair.bind(0, windows.data(), arena, location.offset(), location.capacity(), access, 0);
    pair.bind(
        lastId,
        windows.checksums(),
        arena,
        window.checksumsOffset(),
        window.checksumsLength(),
        access,
        QueuePair.SIGNALED);
  }

  private void stageInvalidation(ExtentWindow window) {
    pair.invalidate(0, window.windows().data(), 0);
    pair.invalidate(0, window.windows().checksums(), 0);
    pair.read(lastId, sink, client.address(), client.rkey(), QueuePair.SIGNALED);
  }

  /** The operation of this number, which is done; null when the connection has ended. */
  Operation completed(long id) {
    Operation operation = posted.remove(id);
    if (operation != null && !operation.opens) {
      idle.add(operation.window.windows());
    }
    return operation;
  }

  /** Posts nothing any more. The device is done with the pair. */
  synchronized void end() {
    ended = true;
    wanted.clear();
    posted.clear();
    idle.clear(); // they end with the pair
    word.close();
  }
}
