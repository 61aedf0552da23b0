package io.takofs.server;

import io.takofs.server.loggroup.Journal;
import io.takofs.server.loggroup.Leader;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * The replies to calls that are executed, held until all is committed that they may tell of: the
 * entries of a change, and of a query those that the state had when it was answered. A query's
 * waits, too, until it is proved that this server still led then, be it by a lease where that is
 * enough. They leave in the order of their calls.
 *
 * <p>Thread rule: the owner of the group.
 */
final class HeldReplies {
  private final Journal journal;
  private final Leader leader;
  private final Queue<Held> held = new ArrayDeque<>();

  /**
   * A reply.
   *
   * @param due what proves that the state was the newest
   */
  record Answer(FencedReply reply, ProofDue due) {}

  private record Held(FencedReply reply, Leader.Proof proof) {}

  HeldReplies(Journal journal, Leader leader) {
    this.journal = journal;
    this.leader = leader;
  }

  /**
   * Adds {@code answers} to {@code out}, or keeps them for {@link #release}.
   *
   * @param term in which they were answered
   */
  void add(List<Answer> answers, long term, List<FencedReply> out) {
    boolean lease = false;
    Leader.Proof proof = null;
    for (Answer answer : answers) { // one for all of them, after the last has read the state
      lease = lease || (answer.due == ProofDue.LEASE && leader.hasLease(term));
      boolean due = answer.due == ProofDue.ROUND || (answer.due == ProofDue.LEASE && !lease);
      if (due && proof == null) {
        proof = leader.prove(term);
      }
      Held next = new Held(answer.reply, due ? proof : Leader.Proof.GIVEN);
      if (held.isEmpty() && mayLeave(next)) {
        out.add(answer.reply);
      } else {
        held.add(next);
      }
    }
  }

  private boolean mayLeave(Held reply) {
    return journal.isCommitted(reply.reply.ticket()) && reply.proof.isGiven();
  }

  /** Adds the replies to {@code out} that may be sent by now. */
  void release(List<FencedReply> out) {
    while (!held.isEmpty() && mayLeave(held.peek())) {
      out.add(held.remove().reply);
    }
  }

  /** The replies that are held, which are held no more. */
  List<FencedReply> takeAll() {
    List<FencedReply> all = held.stream().map(Held::reply).toList();
    held.clear();
    return all;
  }
}
