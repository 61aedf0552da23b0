package io.takofs.rpc;

import io.takofs.base.Undo;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayDeque;

/**
 * The slots of one connection: their memory, and which are free. A free slot is the credit for one
 * more call.
 *
 * <p>Thread rule: guarded by the client's lock, but for {@link #anyFree}.
 */
final class ClientSlots implements AutoCloseable {
  private final ProtectionDomain domain;
  private final MemoryRegion requests;
  private final MemoryRegion replies;
  private final ClientSlot[] slots;
  private final ArrayDeque<ClientSlot> free = new ArrayDeque<>();

  /** The size of {@code free}, for callers that wait for a slot without the lock. */
  private volatile int freeSlots;

  /** Allocates the memory, all or nothing. */
  ClientSlots(Transport transport, ConnectionKind kind) throws IOException {
    this.slots = new ClientSlot[kind.slots];
    this.freeSlots = kind.slots;
    try (Undo undo = new Undo()) {
      domain = undo.add(transport.allocateProtectionDomain()); // closes the regions that it has
      requests = allocate(kind.requestSize, Access.LOCAL);
      replies = allocate(kind.replySize, Access.REMOTE_READ_WRITE);
      undo.keep();
    }
    for (int i = 0; i < slots.length; i++) {
      slots[i] =
          new ClientSlot(
              i,
              requests.buffer().slice(i * kind.requestSize, kind.requestSize),
              replies.buffer().slice(i * kind.replySize, kind.replySize));
      free.add(slots[i]);
    }
  }

  private MemoryRegion allocate(int slotSize, Access access) throws IOException {
    return domain.allocate(slots.length * slotSize, access);
  }

  /** The domain of their memory. */
  ProtectionDomain domain() {
    return domain;
  }

  /** Requests are sent from here. */
  MemoryRegion requests() {
    return requests;
  }

  /** The server writes replies here. */
  MemoryRegion replies() {
    return replies;
  }

  ClientSlot get(int index) {
    return slots[index];
  }

  /** All of them, in the order of their indexes; not to be changed. */
  ClientSlot[] all() {
    return slots;
  }

  /** Whether a slot is free, or was a moment ago; any thread, without the lock. */
  boolean anyFree() {
    return freeSlots > 0;
  }

  /** Takes a free slot; null when there is none. */
  ClientSlot poll() {
    ClientSlot slot = free.poll();
    freeSlots = free.size();
    return slot;
  }

  /** Gives a slot back, whose call is over; the next call gets it, while it is in the caches. */
  void free(ClientSlot slot) {
    free.push(slot);
    freeSlots = free.size();
  }

  @Override
  public void close() {
    requests.close();
    replies.close();
    domain.close();
  }
}
