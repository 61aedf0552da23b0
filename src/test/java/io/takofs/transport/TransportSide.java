package io.takofs.transport;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** One side of a test: a transport, one protection domain, one completion queue. */
final class TransportSide {
  static final int MAX_SENDS = 64;
  static final int MAX_RECEIVES = 64;

  private static final int QUEUE_CAPACITY = 64 * (MAX_SENDS + MAX_RECEIVES);

  final Transport transport;
  final ProtectionDomain domain;
  final CompletionQueue queue;
  private final List<Completion> seen = new ArrayList<>();

  TransportSide(Transport transport) {
    this.transport = transport;
    this.domain = transport.allocateProtectionDomain();
    this.queue = transport.createCompletionQueue(QUEUE_CAPACITY);
  }

  QueuePairConfig config() {
    return new QueuePairConfig(domain, queue, queue, MAX_SENDS, MAX_RECEIVES);
  }

  MemoryRegion region(int length, Access access) throws IOException {
    return domain.allocate(length, access);
  }

  /** Takes what is there into the list of completions not asked for yet. */
  void drain() {
    int taken;
    do {
      taken = queue.poll(this::add, 16);
    } while (taken > 0);
  }

  private void add(
      QueuePair queuePair,
      long workRequestId,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    seen.add(new Completion(queuePair, workRequestId, opcode, status, byteCount, immediate));
  }

  /** Completions drained and not taken yet. */
  int pending() {
    return seen.size();
  }

  /** Removes and returns the oldest {@code count} completions. */
  List<Completion> take(int count) {
    List<Completion> head = seen.subList(0, count);
    List<Completion> taken = List.copyOf(head);
    head.clear();
    return taken;
  }
}
