package io.takofs.server;

import io.takofs.server.loggroup.Journal;
import io.takofs.server.loggroup.Leader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Looks at the state that are to be shown only when all is committed that they may have seen, and
 * it is proved that this server led when they were made: as replies to queries are ({@link
 * HeldReplies}).
 *
 * <p>Thread rule: the owner of the group; what is returned may be waited for on any thread.
 */
final class ProvenLooks {
  private final Journal journal;
  private final Leader leader;
  private final List<Look> looks = new ArrayList<>(); // all is committed that they may have seen

  private record Look(Leader.Proof proof, CompletableFuture<Boolean> shown) {}

  ProvenLooks(Journal journal, Leader leader) {
    this.journal = journal;
    this.leader = leader;
  }

  /**
   * A look at the state was made in {@code term}; tells true when it may be shown, and false when
   * it cannot be proved any more.
   */
  CompletableFuture<Boolean> add(long term) {
    CompletableFuture<Boolean> shown = new CompletableFuture<>();
    Look look = new Look(leader.prove(term), shown);
    journal.whenCommitted(() -> looks.add(look));
    release();
    return shown;
  }

  /** Tells of those that may be shown by now. */
  void release() {
    looks.removeIf(
        look -> look.shown.isDone() || (look.proof.isGiven() && look.shown.complete(true)));
  }

  /** This server leads no more: what was not proved never is. */
  void end() {
    looks.forEach(look -> look.shown.complete(false));
    looks.clear();
  }
}
