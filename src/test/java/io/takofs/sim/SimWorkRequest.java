package io.takofs.sim;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.LongSupplier;

/** One posted send and how far it is. */
final class SimWorkRequest {
  private final long sequence;
  private final long id;
  private final Opcode opcode;
  private final boolean signaled;
  private final SimRegion[] regions;
  private final int[] offsets;
  private final int[] lengths;
  private final int length;
  private final long remoteAddress;
  private final int rkey;
  private final int immediate;
  private final long operand;
  private final long desired;

  private SimWindow.Binding binding; // that the remote key stands for, of a window

  private SimRegion target;
  private int targetOffset;
  private ByteBuffer sentBytes;

  /** Groups of pieces that have still to move; below zero before the start. */
  int groupsLeft = -1;

  /** It has reached the target, which may have to finish others first. */
  boolean arrived;

  /** The target has it, immediate and all. */
  boolean delivered;

  /** Its sender is gone, and this has had its consequences. */
  boolean late;

  /** Times the network lost it. */
  int lostCount;

  /** Times the peer had no receive for it. */
  int notReadyCount;

  /** Its fault; reported when everything before it is done. */
  CompletionStatus failure;

  SimWorkRequest(long sequence, WorkRequest request) {
    this.sequence = sequence;
    this.id = request.id();
    this.opcode = request.opcode();
    this.signaled = request.isSignaled();
    ScatterGather local = request.local();
    this.regions = new SimRegion[local.count()];
    this.offsets = new int[local.count()];
    this.lengths = new int[local.count()];
    for (int i = 0; i < local.count(); i++) {
      regions[i] = (SimRegion) local.region(i);
      offsets[i] = local.offset(i);
      lengths[i] = local.length(i);
    }
    this.length = local.totalLength();
    this.remoteAddress = request.remoteAddress();
    this.rkey = request.rkey();
    this.immediate = request.immediate();
    this.operand = request.operand();
    this.desired = request.desired();
  }

  long sequence() {
    return sequence;
  }

  long id() {
    return id;
  }

  Opcode opcode() {
    return opcode;
  }

  int length() {
    return length;
  }

  int immediate() {
    return immediate;
  }

  boolean isSignaled() {
    return signaled;
  }

  boolean isAtomic() {
    return opcode == Opcode.COMPARE_AND_SWAP || opcode == Opcode.FETCH_AND_ADD;
  }

  /** Whether it sees everything that was posted before. */
  boolean waitsForEarlier() {
    return opcode == Opcode.READ || isAtomic() || isOfWindow();
  }

  /** Whether it changes what a window's key gives, at this end. */
  boolean isOfWindow() {
    return opcode == Opcode.BIND_WINDOW || opcode == Opcode.INVALIDATE_WINDOW;
  }

  boolean isStarted() {
    return groupsLeft >= 0;
  }

  boolean isPlaced() {
    return groupsLeft == 0;
  }

  /** Resolves both sides; null when the operation may go on, else why not. */
  CompletionStatus resolve(SimDomain own, SimDomain remote, SimQueuePair peer) {
    for (int i = 0; i < regions.length; i++) {
      boolean inside =
          offsets[i] >= 0 && lengths[i] >= 0 && offsets[i] <= regions[i].length() - lengths[i];
      if (!inside || regions[i].isClosed() || regions[i].domain() != own) {
        return CompletionStatus.LOCAL_ACCESS_ERROR;
      }
    }
    if (isAtomic() && length != Long.BYTES) {
      return CompletionStatus.LOCAL_ACCESS_ERROR;
    }
    if (length == 0) {
      return null;
    }
    binding = remote.binding(rkey);
    target = binding == null ? remote.region(rkey) : binding.region;
    if (target == null || !isAllowed(peer)) {
      return CompletionStatus.REMOTE_ACCESS_ERROR;
    }
    targetOffset = (int) (remoteAddress - target.address());
    return null;
  }

  private boolean isAllowed(SimQueuePair peer) {
    long start = target.address();
    long bytes = target.length();
    Access access = target.access();
    if (binding != null) {
      start += binding.offset;
      bytes = binding.length;
      access = binding.owner == peer ? binding.access : Access.LOCAL;
    }
    return allows(access)
        && remoteAddress >= start
        && remoteAddress - start <= bytes - length
        && (!isAtomic() || remoteAddress % Long.BYTES == 0);
  }

  private boolean allows(Access access) {
    return switch (access) {
      case LOCAL -> false;
      case REMOTE_READ -> opcode == Opcode.READ;
      case REMOTE_READ_WRITE -> !isAtomic();
      case REMOTE_ATOMIC -> true;
    };
  }

  /** Why the next pieces may not move any more: a region was closed meanwhile. */
  CompletionStatus stillResolved() {
    for (SimRegion region : regions) {
      if (region.isClosed() && sentBytes == null) {
        return CompletionStatus.LOCAL_ACCESS_ERROR;
      }
    }
    boolean gone = target != null && (target.isClosed() || (binding != null && binding.flushed));
    return gone ? CompletionStatus.REMOTE_ACCESS_ERROR : null;
  }

  /** Whether it began by a key that has ended; chance decides what of it had been sent by then. */
  boolean isOvertaken() {
    return binding != null && binding.ended;
  }

  /** Whether its last packets travel alone. */
  boolean isDetached() {
    return sentBytes != null;
  }

  /** The sender is gone; packets of a write that it has sent carry the bytes of this moment. */
  void detachFromSender() {
    if (waitsForEarlier()) {
      return;
    }
    sentBytes = ByteBuffer.allocate(length);
    moveLocal(0, length, sentBytes, 0, false);
  }

  /** Moves {@code count} bytes from {@code offset} of the transfer. */
  void move(int offset, int count) {
    if (sentBytes != null) {
      target.memory().put(targetOffset + offset, sentBytes, offset, count);
    } else {
      moveLocal(offset, count, target.memory(), targetOffset + offset, opcode == Opcode.READ);
    }
  }

  private boolean isStore() {
    return opcode == Opcode.WRITE || opcode == Opcode.WRITE_WITH_IMMEDIATE;
  }

  /** Tells {@code stores} when pieces have moved to memory of a file. */
  void tell(SimStores stores, LongSupplier client) {
    if (isStore() && length > 0 && !target.isOwn()) {
      stores.stored(target.file(), target.fileOffset() + targetOffset, length, client.getAsLong());
    }
  }

  /** Whether pieces of it may still move to a range of {@code file}, which {@code remote} has. */
  boolean mayStoreTo(SimDomain remote, MappedMemory file, int offset, int count) {
    if (!isStore() || length == 0 || isPlaced() || failure != null) {
      return false;
    }
    SimRegion region = target;
    if (!isStarted()) {
      SimWindow.Binding bound = remote.binding(rkey);
      region = bound == null ? remote.region(rkey) : bound.region;
    }
    boolean over = region == null || region.isClosed() || (binding != null && binding.flushed);
    if (over || region.file() != file) {
      return false;
    }
    long begin = region.fileOffset() + remoteAddress - region.address();
    return begin < offset + count && offset < begin + length;
  }

  /** Records what it moves, as it is now. */
  void trace(SimTrace trace) {
    if (length == 0) {
      return; // it has no target
    }
    ByteBuffer bytes = ByteBuffer.allocate(length);
    if (opcode == Opcode.READ) {
      bytes.put(0, target.memory(), targetOffset, length);
    } else {
      moveLocal(0, length, bytes, 0, false);
    }
    trace.bytes(opcode, bytes);
  }

  /** Does the atomic operation. */
  void swap() {
    ByteBuffer memory = target.memory();
    long old = memory.getLong(targetOffset);
    if (opcode == Opcode.FETCH_AND_ADD) {
      memory.putLong(targetOffset, old + operand);
    } else if (old == operand) {
      memory.putLong(targetOffset, desired);
    }
    ByteBuffer result = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    moveLocal(0, Long.BYTES, result.putLong(0, old), 0, true);
  }

  /** Copies between the local pieces and {@code other}; {@code inward} is into the pieces. */
  private void moveLocal(int offset, int count, ByteBuffer other, int otherOffset, boolean inward) {
    int start = 0;
    for (int i = 0; i < regions.length; i++) {
      int from = Math.max(offset, start);
      int to = Math.min(offset + count, start + lengths[i]);
      if (from < to) {
        int localOffset = offsets[i] + from - start;
        ByteBuffer local = regions[i].memory();
        if (inward) {
          local.put(localOffset, other, otherOffset + from - offset, to - from);
        } else {
          other.put(otherOffset + from - offset, local, localOffset, to - from);
        }
      }
      start += lengths[i];
    }
  }
}
