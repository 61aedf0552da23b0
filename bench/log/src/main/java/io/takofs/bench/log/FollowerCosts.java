package io.takofs.bench.log;

import io.takofs.base.Clock;
import io.takofs.layout.Layout;
import java.util.ArrayList;
import java.util.List;

/**
 * The work of a follower's processor for the log so far: nanoseconds by the clock, and counts.
 *
 * <p>Thread rule: one thread.
 */
final class FollowerCosts {
  /** A put's frame. */
  private static final int FRAME_SIZE =
      Layout.FRAME_HEADER_SIZE
          + ((KeyValueTable.ENTRY_SIZE + Layout.FRAME_ALIGN - 1) & -Layout.FRAME_ALIGN)
          + Layout.FRAME_TRAILER_SIZE;

  private static final int ENTRIES_OF_A_SEGMENT =
      (Layout.SEGMENT_SIZE - Layout.SEGMENT_DATA_OFFSET) / FRAME_SIZE;

  /** A scan of less says little. */
  private static final int ENTRIES_MIN = ENTRIES_OF_A_SEGMENT / 2;

  private final List<Double> segmentScans = new ArrayList<>();
  private final Clock clock = Clock.SYSTEM;
  private long calls;
  private long callNs;
  private long requests;
  private long requestNs;
  private long scanNs;
  private long zeroingNs;
  private long appliedNs;
  private long applied;

  /** Names of {@link #totals}. */
  static String[] names() {
    return new String[] {
      "calls", "call_ns", "requests", "request_ns", "scan_ns", "zeroing_ns", "applied_ns", "applied"
    };
  }

  /** All of it. */
  long[] totals() {
    return new long[] {calls, callNs, requests, requestNs, scanNs, zeroingNs, appliedNs, applied};
  }

  /** The clock of all times. */
  long now() {
    return clock.nanoTime();
  }

  /**
   * Calls with frames or heartbeats were handled and answered.
   *
   * @param beganNs when they were looked for
   */
  void addCalls(int count, long beganNs) {
    calls += count;
    callNs += now() - beganNs;
  }

  /** A request for slots, or of an election, was handled; without what it made others add. */
  void addRequest(long ns) {
    requests++;
    requestNs += ns;
  }

  /** The times of the scans before slots were given, nanoseconds for a full segment each. */
  List<Double> segmentScans() {
    return segmentScans;
  }

  /** So many entries were looked at before slots were given. */
  void addSegmentScan(long entries, long beganNs) {
    long ns = now() - beganNs;
    scanNs += ns;
    if (entries >= ENTRIES_MIN) {
      segmentScans.add((double) ns / entries * ENTRIES_OF_A_SEGMENT);
    }
  }

  /** Frames were looked at that nobody had looked at here. */
  void addScan(long beganNs) {
    scanNs += now() - beganNs;
  }

  /** Segments were given up, and zeroed. */
  void addZeroing(long beganNs) {
    zeroingNs += now() - beganNs;
  }

  /** Entries were delivered and applied. */
  void addApplied(int count, long beganNs) {
    appliedNs += now() - beganNs;
    applied += count;
  }
}
