package io.takofs.server.slabs;

import io.takofs.layout.Layout;
import java.util.concurrent.TimeUnit;

/**
 * How often a server is asked how far its copies have come, and how long nothing may come of one.
 *
 * @param bytesPerSecond that the server may read: its share of a limit that is for all together,
 *     whatever it copies; 0 for no limit
 */
record CopyPace(long bytesPerSecond) {
  /** Pause between two questions: short after one that brought news. */
  static final long POLL_MIN_NS = TimeUnit.MILLISECONDS.toNanos(1);

  static final long POLL_MAX_NS = TimeUnit.MILLISECONDS.toNanos(20);

  /** A copy of which nothing comes for so long is given up where there is no limit. */
  private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(30);

  /** Returns the pace of each of so many servers that copy within one limit. */
  static CopyPace of(long bandwidth, long servers) {
    return new CopyPace(bandwidth == 0 ? 0 : Math.max(1, bandwidth / Math.max(1, servers)));
  }

  /**
   * Returns the pause before the next question. With a limit the next extent takes a while.
   *
   * @param lastNs the pause before the one that was answered
   */
  long pauseNs(boolean hasNews, long lastNs) {
    long newsNs = Math.max(POLL_MIN_NS, Math.min(POLL_MAX_NS, lastsNs(Layout.EXTENT_SIZE_MAX)));
    return hasNews ? newsNs : Math.min(POLL_MAX_NS, Math.max(newsNs, 2 * lastNs));
  }

  /** Returns how long nothing may come of a copy, because {@code bytes} of others come first. */
  long patienceNs(long bytes) {
    return STUCK_NS + 2 * lastsNs(bytes);
  }

  private long lastsNs(long bytes) {
    return bytesPerSecond == 0 ? 0 : (long) (1e9 * bytes / bytesPerSecond);
  }
}
