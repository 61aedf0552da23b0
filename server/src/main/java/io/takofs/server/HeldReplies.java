package io.takofs.server;

import io.takofs.server.loggroup.Journal;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * The replies to calls that are executed, held until all is committed that they may tell of: the
 * entries of a change, and of a query those that the state had when it was answered. They leave in
 * the order of their calls.
 *
 * <p>Thread rule: the owner of the group.
 */
final class HeldReplies {
  private final Journal journal;
  private final Queue<FencedReply> held = new ArrayDeque<>();

  HeldReplies(Journal journal) {
    this.journal = journal;
  }

  /** Adds {@code reply} to {@code out}, or keeps it for {@link #release}. */
  void add(FencedReply reply, List<FencedReply> out) {
    if (held.isEmpty() && journal.isCommitted(reply.ticket())) {
      out.add(reply);
    } else {
      held.add(reply);
    }
  }

  /** Adds the replies to {@code out} that may be sent by now. */
  void release(List<FencedReply> out) {
    while (!held.isEmpty() && journal.isCommitted(held.peek().ticket())) {
      out.add(held.remove());
    }
  }
}
