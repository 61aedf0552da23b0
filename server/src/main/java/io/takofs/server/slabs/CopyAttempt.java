package io.takofs.server.slabs;

import io.takofs.proto.CopyFailure;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * One attempt to fill a new replica of a closed slab. Its number is that of the target's lease,
 * which is never given again, so a restarted leader cannot mistake it for a later one.
 *
 * <p>Thread rule: the owner of the group.
 */
final class CopyAttempt {
  final long slab;
  final int version;
  final Replica target;

  /** A question is not answered yet. */
  boolean isAsked;

  /** Time of the last question; 0 before the first. */
  long askedNs;

  /** Pause from there to the next question. */
  long pauseNs;

  /** Time at which an extent was last done, or the attempt began. */
  long progressNs;

  /** The last reason of the target why an extent could not be copied. */
  String trouble = "the target does not answer";

  private final Set<Extent> done = new HashSet<>();
  private List<Extent> pending = List.of();
  private long copiedBytes;

  CopyAttempt(long slab, int version, Replica target, long nowNs) {
    this.slab = slab;
    this.version = version;
    this.target = target;
    this.progressNs = nowNs;
  }

  /** Nothing is asked for a while. */
  void rest(long nowNs, long forNs) {
    askedNs = nowNs;
    pauseNs = forNs;
  }

  /** Whether the pause since the last question is over. */
  boolean isDue(long nowNs) {
    return askedNs == 0 || nowNs - askedNs >= pauseNs;
  }

  /** The present records of the slab: what of them is not copied yet is asked for. */
  void records(List<Extent> records) {
    pending = records.stream().map(CopyAttempt::bytesOf).filter(e -> !done.contains(e)).toList();
  }

  /**
   * The fields of a record that describe its bytes. File and position are left out, because joining
   * files changes them and no byte.
   */
  private static Extent bytesOf(Extent record) {
    return Extent.newBuilder()
        .setSlab(record.getSlab())
        .setOffset(record.getOffset())
        .setCapacity(record.getCapacity())
        .setGeneration(record.getGeneration())
        .setLength(record.getLength())
        .setChecksumsCrc(record.getChecksumsCrc())
        .setTailCrc(record.getTailCrc())
        .build();
  }

  /** {@code extents} are not pending any more until the records are read again. */
  void passOver(List<Extent> extents) {
    pending = pending.stream().filter(extent -> !extents.contains(extent)).toList();
  }

  /** Extents that were not said to be copied yet. */
  List<Extent> pending() {
    return pending;
  }

  /**
   * Takes what the target says of {@code asked}.
   *
   * @return bytes that are copied now and were not before
   */
  long take(List<Extent> asked, CopyProgress progress, long nowNs) {
    long bytes = 0;
    for (int index : progress.getDoneList()) {
      if (index < asked.size() && done.add(asked.get(index))) {
        bytes += asked.get(index).getLength();
      }
    }
    if (bytes > 0) {
      progressNs = nowNs;
      pending = pending.stream().filter(extent -> !done.contains(extent)).toList();
    }
    for (CopyFailure failure : progress.getFailedList()) {
      trouble =
          failure.getSource() == 0
              ? failure.getReason()
              : "server %d: %s".formatted(failure.getSource(), failure.getReason());
    }
    copiedBytes += bytes;
    return bytes;
  }

  long copiedBytes() {
    return copiedBytes;
  }
}
