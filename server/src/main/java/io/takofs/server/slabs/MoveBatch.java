package io.takofs.server.slabs;

import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyFailure;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.EndMove;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantMove;
import io.takofs.proto.MoveExtents;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Some extents of a file, all of one slab, that are copied to extents of another slab, which were
 * granted to the copier by one entry. Each replica of that slab copies all of them.
 *
 * <p>Thread rule: the owner of the group.
 */
final class MoveBatch {
  final long fileId;
  final long sourceSlab;

  /** The slab that the extents move to, as it was when they were granted. */
  final Slab target;

  final List<Part> parts = new ArrayList<>();

  /** Time at which an extent was last done, or the batch began. */
  long progressNs;

  /** The last reason of a target why an extent could not be copied. */
  String trouble = "a server does not answer";

  private final boolean emptiesSlab;
  private final List<Extent> from;
  private final List<Extent> to;

  /** The copies that one server makes. */
  static final class Part {
    final Replica replica;
    final BitSet done = new BitSet();

    /** A question is not answered yet. */
    boolean isAsked;

    /** Time of the last question; 0 before the first. */
    long askedNs;

    /** Pause from there to the next question. */
    long pauseNs;

    Part(Replica replica) {
      this.replica = replica;
    }
  }

  /**
   * @param move extents of the file, as they are
   * @param to the copier's grant for each of them, all of one entry
   */
  MoveBatch(GrantMove move, List<Extent> to, Slab target, long nowNs) {
    this.fileId = move.getFileId();
    this.emptiesSlab = move.getEmptiesSlab();
    this.from = move.getExtentsList();
    this.to = List.copyOf(to);
    this.sourceSlab = from.get(0).getSlab();
    this.target = target;
    this.progressNs = nowNs;
    target.getReplicasList().forEach(replica -> parts.add(new Part(replica)));
  }

  /** Bytes of the file that move. */
  long bytes() {
    return from.stream().mapToLong(Extent::getLength).sum();
  }

  boolean isDone(Part part) {
    return part.done.cardinality() == to.size();
  }

  boolean isDone() {
    return parts.stream().allMatch(this::isDone);
  }

  /** The extent of the file that has this number, as it was when the batch began. */
  Extent from(int number) {
    return from.get(number);
  }

  /** Extents that the server of {@code part} has not said to be copied, by their numbers. */
  List<Integer> pending(Part part) {
    List<Integer> pending = new ArrayList<>();
    for (int i = part.done.nextClearBit(0); i < to.size(); i = part.done.nextClearBit(i + 1)) {
      pending.add(i);
    }
    return pending;
  }

  /** Asks for the {@code pending} ones; the caller adds where from, and how fast. */
  CopyExtents.Builder question(Part part, List<Integer> pending) {
    CopyExtents.Builder copy =
        CopyExtents.newBuilder().setAttempt(to.get(0).getGrant()).setTarget(part.replica);
    for (int i : pending) {
      copy.addSourceOffsets(from.get(i).getOffset())
          .addExtents(
              to.get(i).toBuilder()
                  .setLength(from.get(i).getLength())
                  .setChecksumsCrc(from.get(i).getChecksumsCrc())
                  .setTailCrc(from.get(i).getTailCrc()));
    }
    return copy;
  }

  /**
   * Takes what the server of {@code part} says of the {@code asked} ones.
   *
   * @return bytes that are copied now and were not before
   */
  long take(Part part, List<Integer> asked, CopyProgress progress, long nowNs) {
    long bytes = 0;
    for (int index : progress.getDoneList()) {
      if (index < asked.size() && !part.done.get(asked.get(index))) {
        part.done.set(asked.get(index));
        bytes += from.get(asked.get(index)).getLength();
      }
    }
    for (CopyFailure failure : progress.getFailedList()) {
      trouble = "server %d: %s".formatted(part.replica.getServer(), failure.getReason());
    }
    progressNs = bytes > 0 ? nowNs : progressNs;
    return bytes;
  }

  /** The entry that puts the copies in the place of the extents. */
  MoveExtents.Builder move() {
    return MoveExtents.newBuilder()
        .setFileId(fileId)
        .setEmptiesSlab(emptiesSlab)
        .addAllFrom(from)
        .addAllTo(to);
  }

  /** The entry that ends the grants. */
  EndMove.Builder end() {
    return EndMove.newBuilder().addAllGrants(to);
  }
}
