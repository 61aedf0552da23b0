package io.takofs.server.member;

import io.takofs.server.member.MemberChoice.Replacement;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replacement of a member that an administrator asked a leader for. It ends when it is done or
 * cannot be any more, after an hour, and when another member may have led since, which did not know
 * of it: a leader itself stands for election in the next term whenever the members change.
 *
 * <p>Thread rule: {@link #set} on any thread, the rest on one.
 */
final class ReplacementRequest {
  private static final Logger LOG = LoggerFactory.getLogger(ReplacementRequest.class);
  private static final long LASTS_NS = TimeUnit.HOURS.toNanos(1);

  private final AtomicReference<Asked> request = new AtomicReference<>();
  private Asked begun; // the same, as the last look saw it
  private long begunNs;

  /** Each is another object, so that the same one asked for again begins anew. */
  private static final class Asked {
    private final Replacement replacement;
    private long term; // the last one in which this server was seen to lead

    private Asked(long term, Replacement replacement) {
      this.term = term;
      this.replacement = replacement;
    }
  }

  /**
   * Has {@code replacement} take the place of what was asked for before, of the leader of a term.
   */
  void set(long term, Replacement replacement) {
    request.set(new Asked(term, replacement));
  }

  /**
   * Returns the replacement that is asked for; null for none.
   *
   * @param term in which this server leads
   * @param members of the group now
   */
  Replacement get(long term, Set<Integer> members, long nowNs) {
    Asked asked = request.get();
    if (asked != begun) {
      begun = asked;
      begunNs = nowNs;
    }
    if (asked == null) {
      return null;
    }
    int leaves = asked.replacement.leaves();
    int comes = asked.replacement.comes();
    boolean mayBeOthers = term != asked.term && term != asked.term + 1;
    boolean isOver = mayBeOthers || !members.contains(leaves) || members.contains(comes);
    asked.term = term;
    boolean isLate = !isOver && nowNs - begunNs >= LASTS_NS;
    if (isLate || mayBeOthers) {
      LOG.warn("server {} did not become a member instead of {}", comes, leaves);
    }
    if (isOver || isLate) {
      request.compareAndSet(asked, null);
      return null;
    }
    return asked.replacement;
  }
}
