package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.extent.Location;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A connection to the data zone whose peer writes through windows: what is posted for them.
 *
 * <p>Thread rule: the lock of {@link WriteWindows}.
 */
final class WindowedConnection {
  /** Sends that opening or closing one extent takes, at most. */
  private static final int SENDS = 3;

  private final QueuePair pair;
  private final ArenaExport export;
  private final ConnectionInfo client;
  private final MemoryRegion word;
  private final Map<Long, List<ExtentWindow>> byFile = new HashMap<>();
  private final ArrayDeque<ExtentWindow.WindowPair> idle = new ArrayDeque<>();
  private final ArrayDeque<Operation> waiting = new ArrayDeque<>();
  private final Map<Long, Operation> posted = new HashMap<>();
  private final ScatterGather sink;
  private long lastId;

  /** The opening or the closing of a window. */
  private record Operation(ExtentWindow window, boolean opens) {}

  /**
   * A connection.
   *
   * @param client has a word of memory that this side may read
   */
  WindowedConnection(QueuePair pair, ArenaExport export, ConnectionInfo client) throws IOException {
    this.pair = pair;
    this.export = export;
    this.client = client;
    this.word = export.domain().allocate(Long.BYTES, Access.LOCAL);
    this.sink = new ScatterGather().add(word, 0, Long.BYTES);
  }

  QueuePair pair() {
    return pair;
  }

  /** Begins to bind {@code window}. */
  void bind(ExtentWindow window) throws IOException {
    window.use(idle.isEmpty() ? allocate() : idle.pop());
    byFile.computeIfAbsent(window.fileId(), file -> new ArrayList<>()).add(window);
    waiting.add(new Operation(window, true));
    post();
  }

  private ExtentWindow.WindowPair allocate() throws TakoException {
    return new ExtentWindow.WindowPair(
        export.domain().allocateWindow(), export.domain().allocateWindow());
  }

  /** Begins to take the keys of {@code window} away. */
  void invalidate(ExtentWindow window) {
    waiting.add(new Operation(window, false));
    post();
  }

  private void post() {
    boolean staged = false;
    while (!waiting.isEmpty() && pair.sendSlotsFree() >= SENDS) {
      Operation operation = waiting.remove();
      posted.put(++lastId, operation);
      if (operation.opens) {
        stageBinding(operation.window);
      } else {
        stageInvalidation(operation.window);
      }
      staged = true;
    }
    if (staged) {
      pair.ring();
    }
  }

  private void stageBinding(ExtentWindow window) {
    Location location = window.location();
    MemoryRegion arena = export.arena(location.arena());
    ExtentWindow.WindowPair windows = window.windows();
    Access access = Access.REMOTE_READ_WRITE;
    try {
      pair.bind(0, windows.data(), arena, location.offset(), location.capacity(), access, 0);
      pair.bind(
          lastId,
          windows.checksums(),
          arena,
          window.checksumsOffset(),
          window.checksumsLength(),
          access,
          QueuePair.SIGNALED);
    } catch (IOException e) {
      // Half of it may be staged: with the pair all of it ends, and the client connects again.
      pair.revoke();
    }
  }

  private void stageInvalidation(ExtentWindow window) {
    pair.invalidate(0, window.windows().data(), 0);
    pair.invalidate(0, window.windows().checksums(), 0);
    pair.read(lastId, sink, client.address(), client.rkey(), QueuePair.SIGNALED);
  }

  /** The operation of this number is done; returns its window in its new state. */
  ExtentWindow completed(long id) {
    Operation operation = posted.remove(id);
    ExtentWindow window = operation.window;
    if (operation.opens) {
      window.bound();
    } else {
      window.closed();
      drop(window);
      idle.push(window.windows());
    }
    post();
    return window;
  }

  private void drop(ExtentWindow window) {
    byFile.computeIfPresent(
        window.fileId(),
        (file, windows) -> {
          windows.remove(window);
          return windows.isEmpty() ? null : windows;
        });
  }

  List<ExtentWindow> windowsOf(long fileId) {
    return List.copyOf(byFile.getOrDefault(fileId, List.of()));
  }

  /** Nothing can be posted any more; returns the windows there were. */
  List<ExtentWindow> end() {
    waiting.clear();
    posted.clear();
    word.close(); // the device is done with the pair, and so with this
    List<ExtentWindow> all = byFile.values().stream().flatMap(Collection::stream).toList();
    byFile.clear();
    return all;
  }
}
