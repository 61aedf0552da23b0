package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.server.extent.Location;
import io.takofs.transport.MemoryWindow;
import java.util.ArrayList;
import java.util.List;

/**
 * One client's right to write one extent: a window on its bytes and one on its checksum entries.
 *
 * <p>Thread rule: the lock of {@link WriteWindows}.
 */
final class ExtentWindow {
  private enum State {
    BINDING,
    OPEN,
    CLOSING,
    CLOSED
  }

  private final WindowedConnection connection;
  private final long fileId;
  private final Location location;
  private final List<Runnable> waiting = new ArrayList<>(1);
  private long grant;
  private State state = State.BINDING;
  private String failure; // why it was not bound; null otherwise

  /** Set by {@link WindowPosts} before the window is bound. */
  private volatile WindowPair windows;

  /**
   * @param grant number of the grant that gives the right
   */
  ExtentWindow(WindowedConnection connection, long fileId, Location location, long grant) {
    this.connection = connection;
    this.fileId = fileId;
    this.location = location;
    this.grant = grant;
  }

  /** The two windows that are bound together. */
  record WindowPair(MemoryWindow data, MemoryWindow checksums) {}

  WindowedConnection connection() {
    return connection;
  }

  long fileId() {
    return fileId;
  }

  Location location() {
    return location;
  }

  /** The latest grant by which the client has it. */
  long grant() {
    return grant;
  }

  /** The same client has another grant of the same extent of the same file. */
  void renew(long latest) {
    grant = latest;
  }

  WindowPair windows() {
    return windows;
  }

  void use(WindowPair bound) {
    windows = bound;
  }

  /** Whether this is, or will be, what {@code file} needs to write {@code extent}. */
  boolean isFor(long file, Location extent) {
    return fileId == file && location.equals(extent) && state != State.CLOSING;
  }

  boolean overlaps(Location other) {
    return location.arena() == other.arena()
        && location.offset() < other.offset() + other.capacity()
        && other.offset() < location.offset() + location.capacity();
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  /** The device did not make the windows. */
  void failed(String why) {
    failure = why;
  }

  /** The keys are good, unless they are taken away already. */
  void bound() {
    if (state == State.BINDING) {
      state = State.OPEN;
    }
  }

  /** Begins to take the keys away; false when that was begun before. */
  boolean beginClosing() {
    boolean first = state == State.BINDING || state == State.OPEN;
    if (first) {
      state = State.CLOSING;
    }
    return first;
  }

  void closed() {
    state = State.CLOSED;
  }

  int rkey() {
    return windows.data().rkey();
  }

  int checksumsRkey() {
    return windows.checksums().rkey();
  }

  /** The offset of its checksum entries in the arena. */
  int checksumsOffset() {
    return location.offset() / Layout.GRANULE_SIZE * Integer.BYTES;
  }

  /** Bytes of its checksum entries. */
  int checksumsLength() {
    return location.capacity() / Layout.GRANULE_SIZE * Integer.BYTES;
  }

  /** Holds {@code gate} until this is open or closed, the next time. */
  void await(ReplyGate gate) {
    gate.hold();
    waiting.add(gate::release);
  }

  /** Holds {@code gate} until this is open, which it fails if that cannot be. */
  void awaitOpen(ReplyGate gate) {
    gate.hold();
    waiting.add(
        () -> {
          if (failure != null) {
            gate.fail(failure);
          }
          gate.release();
        });
  }

  /** The actions that wait for its present state. */
  List<Runnable> takeWaiting() {
    if (state != State.OPEN && state != State.CLOSED) {
      return List.of();
    }
    List<Runnable> taken = List.copyOf(waiting);
    waiting.clear();
    return taken;
  }
}
