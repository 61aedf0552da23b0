package io.takofs.sim;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Which processes cannot reach which, and how much later than usual packets of a process arrive. A
 * link has two directions, and each can be cut alone.
 */
public final class SimLinks {
  private final Set<SimProcess> cutOff = new HashSet<>();
  private final Set<Direction> cut = new HashSet<>();
  private final Map<SimProcess, Long> extraNs = new HashMap<>();

  private record Direction(SimProcess from, SimProcess to) {}

  /** Nothing reaches {@code process} or leaves it until {@link #heal}. */
  public void cutOff(SimProcess process) {
    cutOff.add(process);
  }

  /**
   * Nothing from {@code from} reaches {@code to} until {@link #heal}; the other way is as it was.
   */
  void cut(SimProcess from, SimProcess to) {
    cut.add(new Direction(from, to));
  }

  /** What {@code process} sends and gets takes {@code nanos} longer until {@link #heal}. */
  public void slow(SimProcess process, long nanos) {
    extraNs.put(process, nanos);
  }

  /** Everyone reaches everyone again, in the usual time. */
  public void heal() {
    cutOff.clear();
    cut.clear();
    extraNs.clear();
  }

  /** Whether packets from {@code from} to {@code to} are lost. */
  public boolean isCut(SimProcess from, SimProcess to) {
    return cutOff.contains(from)
        || cutOff.contains(to)
        || (!cut.isEmpty() && cut.contains(new Direction(from, to)));
  }

  /** Nanoseconds that a packet between the two takes longer than usual. */
  long extraNs(SimProcess one, SimProcess other) {
    return extraNs.isEmpty() ? 0 : extraNs.getOrDefault(one, 0L) + extraNs.getOrDefault(other, 0L);
  }
}
