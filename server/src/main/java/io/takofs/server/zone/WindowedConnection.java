package io.takofs.server.zone;

import io.takofs.transport.QueuePair;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A connection to the data zone whose peer writes through windows, and which it has.
 *
 * <p>Thread rule: the lock of {@link WriteWindows}.
 */
public final class WindowedConnection {
  private final QueuePair pair;
  private final WindowPosts posts;
  private final Map<Long, List<ExtentWindow>> byFile = new HashMap<>();

  public WindowedConnection(QueuePair pair, WindowPosts posts) {
    this.pair = pair;
    this.posts = posts;
  }

  QueuePair pair() {
    return pair;
  }

  /** The posts to the device; callers hold no lock. */
  WindowPosts posts() {
    return posts;
  }

  /** Asks for {@code window} to be bound. */
  void bind(ExtentWindow window) {
    byFile.computeIfAbsent(window.fileId(), file -> new ArrayList<>()).add(window);
    posts.add(window, true);
  }

  /** Asks for the keys of {@code window} to be taken away. */
  void invalidate(ExtentWindow window) {
    posts.add(window, false);
  }

  /** The peer has nothing of {@code window} any more. */
  void drop(ExtentWindow window) {
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

  /** Forgets all windows; returns which there were. */
  List<ExtentWindow> dropAll() {
    List<ExtentWindow> all = byFile.values().stream().flatMap(Collection::stream).toList();
    byFile.clear();
    return all;
  }
}
