package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.server.extent.Location;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.QueuePair;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The extents that clients may write, where permission is given extent by extent: a memory window
 * on the extent and one on its checksum entries, for the client's own queue pair, from the grant
 * until the lease ends, the extent is full and committed, or the pair is gone.
 *
 * <p>Closing takes a moment: the keys are invalidated and then a word of the client's memory is
 * read through the pair; when that read is done, so is all that came through the windows. Until
 * then the extent counts as writable, and nobody else gets an answer that lets him write it.
 *
 * <p>Opening and closing are asked for under the server's lock, where it is decided who may write
 * what; from then on the extent is taken, or its end is certain. The device is called for it by
 * {@link #post}, which runs without that lock and before any answer is sent.
 *
 * <p>Thread rule: any thread. Has its own lock, under which nothing else is taken and no device is
 * called; what waits runs without it.
 */
public final class WriteWindows {
  private final Map<Long, WindowedConnection> byClient = new HashMap<>();
  private final Map<QueuePair, WindowedConnection> byPair = new HashMap<>();

  /** All windows that a client may write through, by the frame that their extent is in. */
  private final Map<Long, List<ExtentWindow>> byFrame = new HashMap<>();

  /** Connections that something is to be posted to; one may be in it more than once. */
  private final Queue<WindowedConnection> unposted = new ConcurrentLinkedQueue<>();

  /** A connection of {@code clientId} stands, through which it takes windows from now on. */
  public synchronized void connected(long clientId, WindowedConnection connection) {
    byClient.put(clientId, connection);
    byPair.put(connection.pair(), connection);
  }

  /** Nothing arrives through {@code pair} any more, and nothing can be posted to it. */
  void gone(QueuePair pair) {
    WindowedConnection connection = disconnect(pair);
    if (connection == null) {
      return;
    }
    connection.posts().end();
    List<Runnable> waiting = new ArrayList<>();
    synchronized (this) {
      for (ExtentWindow window : connection.dropAll()) {
        waiting.addAll(closed(window));
      }
    }
    waiting.forEach(Runnable::run);
  }

  /** Nothing is asked of the connection any more; null when it was not known. */
  private synchronized WindowedConnection disconnect(QueuePair pair) {
    WindowedConnection connection = byPair.remove(pair);
    byClient.values().remove(connection);
    return connection;
  }

  /** Whether there is anything to do when {@code clientId} is given extents to write. */
  public synchronized boolean concern(long clientId) {
    return byClient.containsKey(clientId) || !byFrame.isEmpty();
  }

  /**
   * Lets {@code clientId} write extents of a file, through its present connection if that takes
   * windows.
   *
   * @param gate is held until the keys are good, and until nobody else can write the extents; it
   *     has failed when the device has no window for it
   */
  public synchronized void open(long clientId, long fileId, List<Extent> extents, ReplyGate gate) {
    WindowedConnection connection = byClient.get(clientId);
    for (Extent extent : extents) {
      Location location = Location.of(extent);
      ExtentWindow own = null;
      for (ExtentWindow window : overlapping(location)) {
        if (window.connection() == connection && window.isFor(fileId, location)) {
          own = window;
        } else {
          window.await(gate);
          close(window);
        }
      }
      if (connection != null) {
        own = own == null ? bind(connection, fileId, location, extent.getGrant()) : own;
        own.renew(extent.getGrant());
        if (!own.isOpen()) {
          own.awaitOpen(gate);
        }
      }
    }
  }

  private ExtentWindow bind(
      WindowedConnection connection, long fileId, Location location, long grant) {
    ExtentWindow window = new ExtentWindow(connection, fileId, location, grant);
    connection.bind(window);
    unposted.add(connection);
    byFrame.computeIfAbsent(frame(location), frame -> new ArrayList<>()).add(window);
    return window;
  }

  /** The extent with its keys, if {@code clientId} can write it. */
  public synchronized Extent withKeys(long clientId, long fileId, Extent extent) {
    WindowedConnection connection = byClient.get(clientId);
    Location location = Location.of(extent);
    for (ExtentWindow window : overlapping(location)) {
      if (window.connection() == connection && window.isFor(fileId, location) && window.isOpen()) {
        return extent.toBuilder()
            .setRkey(window.rkey())
            .setChecksumsRkey(window.checksumsRkey())
            .build();
      }
    }
    return extent;
  }

  /** The lease on a file has ended: its writer writes no more. */
  public synchronized void close(long clientId, long fileId) {
    WindowedConnection connection = byClient.get(clientId);
    if (connection != null) {
      connection.windowsOf(fileId).forEach(this::close);
    }
  }

  /** An extent of a file is full and committed: its writer writes it no more. */
  public synchronized void close(long clientId, long fileId, Extent full) {
    WindowedConnection connection = byClient.get(clientId);
    if (connection != null) {
      Location location = Location.of(full);
      for (ExtentWindow window : connection.windowsOf(fileId)) {
        if (window.isFor(fileId, location)) {
          close(window);
        }
      }
    }
  }

  /** A client says that it does not write any more what it was granted under this number. */
  public synchronized void leave(long clientId, Location extent, long grant) {
    WindowedConnection connection = byClient.get(clientId);
    // Any numbers may be in what a client says: it names one frame, whatever else.
    for (ExtentWindow window : byFrame.getOrDefault(frame(extent), List.of())) {
      if (window.connection() == connection
          && window.location().equals(extent)
          && window.grant() == grant) {
        close(window);
      }
    }
  }

  /** Whether windows are open for part of {@code range} by a later grant than {@code grant}. */
  synchronized boolean hasLater(Location range, long grant) {
    return overlapping(range).stream()
        .anyMatch(window -> Long.compareUnsigned(window.grant(), grant) > 0);
  }

  /** Whether {@code clientId} has a connection that takes windows. */
  public synchronized boolean isConnected(long clientId) {
    return byClient.containsKey(clientId);
  }

  /** Nobody writes to {@code range} any more. */
  synchronized void close(Location range) {
    overlapping(range).forEach(this::close);
  }

  private void close(ExtentWindow window) {
    if (window.beginClosing()) {
      window.connection().invalidate(window);
      unposted.add(window.connection());
    }
  }

  /** Begins what was asked for; without any lock, because a device may take its time. */
  public void post() {
    for (WindowedConnection next = unposted.poll(); next != null; next = unposted.poll()) {
      post(next);
    }
  }

  private void post(WindowedConnection connection) {
    for (WindowPosts.Failure failure : connection.posts().post()) {
      failed(failure.window(), failure.why()).forEach(Runnable::run);
    }
  }

  private synchronized List<Runnable> failed(ExtentWindow window, String why) {
    window.failed(why);
    window.connection().drop(window);
    return closed(window);
  }

  /** Whether somebody may still write to part of {@code location} through a window. */
  synchronized boolean isWritable(Location location) {
    return !byFrame.isEmpty() && !overlapping(location).isEmpty();
  }

  /** A request posted to a connection has completed. */
  public void onCompletion(QueuePair pair, long workRequestId, CompletionStatus status) {
    WindowedConnection connection = connection(pair);
    if (connection == null || status != CompletionStatus.SUCCESS) {
      return; // the transport tells of the pair's end
    }
    WindowPosts.Operation done = connection.posts().completed(workRequestId);
    if (done != null) {
      completed(done).forEach(Runnable::run);
      post(connection);
    }
  }

  private synchronized WindowedConnection connection(QueuePair pair) {
    return byPair.get(pair);
  }

  private synchronized List<Runnable> completed(WindowPosts.Operation done) {
    ExtentWindow window = done.window();
    if (done.opens()) {
      window.bound();
      return window.takeWaiting();
    }
    window.connection().drop(window);
    return closed(window);
  }

  /** Nothing comes through {@code window} any more; returns what waited for that. */
  private List<Runnable> closed(ExtentWindow window) {
    window.closed();
    byFrame.computeIfPresent(
        frame(window.location()),
        (frame, windows) -> {
          windows.remove(window);
          return windows.isEmpty() ? null : windows;
        });
    return window.takeWaiting();
  }

  private List<ExtentWindow> overlapping(Location range) {
    if (byFrame.isEmpty()) {
      return List.of();
    }
    List<ExtentWindow> found = new ArrayList<>(1);
    long last = frame(range.arena(), range.offset() + range.capacity() - 1);
    for (long frame = frame(range); frame <= last; frame++) {
      for (ExtentWindow window : byFrame.getOrDefault(frame, List.of())) {
        if (window.overlaps(range)) {
          found.add(window);
        }
      }
    }
    return found;
  }

  /** Extents are aligned to their size, so that each is in one frame. */
  private static long frame(Location location) {
    return frame(location.arena(), location.offset());
  }

  private static long frame(int arena, int offset) {
    return (long) arena << Integer.SIZE | offset / Layout.EXTENT_SIZE_MAX;
  }
}
