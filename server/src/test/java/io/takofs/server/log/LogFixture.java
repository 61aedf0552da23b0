package io.takofs.server.log;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Persistence;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A small log zone in plain memory, and what tests do with it. */
final class LogFixture {
  static final LogIdentity IDENTITY = new LogIdentity(7, 1);

  private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

  private final ByteBuffer[] slots;

  LogFixture(int slotCount, int dataBytes) {
    slots = new ByteBuffer[slotCount];
    for (int i = 0; i < slotCount; i++) {
      slots[i] = ByteBuffer.allocateDirect(Layout.SEGMENT_DATA_OFFSET + dataBytes);
    }
  }

  /** A member with an empty log and no transport, as server {@code number}; 0 before it joins. */
  static LogMember member(int number, LogPeers peers, GroupConfig config, Clock clock)
      throws TakoException {
    LogReplica replica =
        LogReplica.open(
            number, new LogFixture(4, 4096).zone(), new LogTransports(), IDENTITY, 0, () -> true);
    return new LogMember(
        1,
        replica,
        new ReplicatedLog(replica, 0),
        peers,
        new FixedCatalog(config),
        new LogTimes(50 * MS, 300 * MS, 600 * MS, 50 * MS, 0),
        clock,
        new Random(1));
  }

  /**
   * Registers what a leader needs of a member with this zone: a place for heartbeats, and for each
   * slot a region that nobody writes to, because tests store into the zone itself.
   */
  LogTransport over(Transport transport, Undo undo) throws IOException {
    ProtectionDomain domain = undo.add(transport.allocateProtectionDomain());
    List<MemoryRegion> regions = new ArrayList<>();
    for (int i = 0; i < slots.length; i++) {
      regions.add(domain.allocate(64, Access.REMOTE_READ_WRITE));
    }
    MemoryRegion beats = domain.allocate(Layout.HEARTBEAT_SIZE, Access.REMOTE_READ_WRITE);
    CompletionQueue queue = undo.add(transport.createCompletionQueue(16));
    return new LogTransport(transport.name(), domain, new LogMemory(regions, beats), queue);
  }

  /** The frames of {@code other} are in the same slots here, too; headers are not. */
  void writeFramesOf(LogFixture other) {
    int from = Layout.SEGMENT_DATA_OFFSET;
    for (int i = 0; i < slots.length; i++) {
      slots[i].put(from, other.slots[i], from, slots[i].capacity() - from);
    }
  }

  LogZone zone() {
    return new LogZone(slots, Persistence.NONE);
  }

  SegmentedLog open(long checkpointIndex) throws TakoException {
    return open(checkpointIndex, 1);
  }

  /** The log for a leader in {@code term}. */
  SegmentedLog open(long checkpointIndex, long term) throws TakoException {
    SegmentedLog log = SegmentedLog.open(zone(), IDENTITY, checkpointIndex);
    log.lead(term);
    return log;
  }

  /** Opens the log and returns everything above the checkpoint. */
  List<byte[]> recover(long checkpointIndex) throws TakoException {
    return poll(open(checkpointIndex), checkpointIndex);
  }

  /** The entries of the next poll, after checking that indexes follow {@code after} one by one. */
  static List<byte[]> poll(SegmentedLog log, long after) {
    List<byte[]> entries = new ArrayList<>();
    log.poll(
        (index, term, payload) -> {
          if (index != after + entries.size() + 1) {
            throw new AssertionError("entry " + index + " after " + (after + entries.size()));
          }
          entries.add(bytes(payload));
        });
    return entries;
  }

  ByteBuffer slot(int slot) {
    return slots[slot];
  }

  int slotCount() {
    return slots.length;
  }

  /** All bytes of the zone. */
  byte[][] snapshot() {
    byte[][] copy = new byte[slots.length][];
    for (int i = 0; i < slots.length; i++) {
      copy[i] = bytes(slots[i].duplicate().clear());
    }
    return copy;
  }

  void restore(byte[][] snapshot) {
    for (int i = 0; i < slots.length; i++) {
      slots[i].put(0, snapshot[i]);
    }
  }

  void flipBit(int slot, int offset, int bit) {
    slots[slot].put(offset, (byte) (slots[slot].get(offset) ^ (1 << bit)));
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(buffer.position(), bytes);
    return bytes;
  }

  static byte[] randomBytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
