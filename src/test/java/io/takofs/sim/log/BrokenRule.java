package io.takofs.sim.log;

/**
 * A rule of the log that somebody breaks, to see that the simulation finds it. All have the name of
 * the run that removes the same rule from the models of the log, but for the last two, the rules of
 * leases and of a renewal, {@link #LEADS_WITHOUT_STATE} and {@link #CHECKPOINT_OVERTAKEN}.
 */
enum BrokenRule {
  /** A member looks at what it has before the leader's connection has ended. */
  SCAN_BEFORE_REVOKE,
  /** A member copies what it has, and ends the leader's connection then. */
  COPY_BEFORE_REVOKE,
  /** Memory to which a former leader may still store is used again. */
  REUSE_MEMORY,
  /** A member that lost its memory comes back as who it was. */
  AMNESIA,
  /** A frame is whole when its header is. */
  HEADER_CHECKSUM,
  /** A frame is whole when its length is possible. */
  NO_FRAME_CHECKSUM,
  /** A leader's own copy counts although it has promised a later term. */
  SELF_UNFENCED,
  /** A leader looks at its own promise now and then, and not when it stores. */
  SELF_CHECKED_FIRST,
  /** A candidate needs no promises of the members before a change. */
  NO_OLD_MAJORITY,
  /** A configuration is active as soon as a leader is elected in it. */
  EARLY_ACTIVE,
  /** The members change again before a leader has committed an entry with the present ones. */
  EARLY_CHANGE,
  /** A member takes what a leader or a candidate of a lower epoch asks. */
  NO_EPOCH_FENCE,
  /** The best log is the one with the last entry, not the one that was adopted last. */
  LAST_ENTRY_TERM,
  /** A leader answers a read without a proof that it still leads. */
  READ_UNPROVED,
  /** A member that has no state stands for election. */
  LEADS_WITHOUT_STATE,
  /** A leader counts what it writes to a member that has no state. */
  COUNTS_WITHOUT_STATE,
  /** A member gives its state up for a checkpoint although it lacks nothing. */
  GIVES_UP_COUNTED,
  /** A member takes a checkpoint over although a leader has continued its log meanwhile. */
  CHECKPOINT_OVERTAKEN,
  /** A damaged member begins anew although it is a member still. */
  COUNTED_RENEWAL,
  /** A leader counts its lease from when it learned that a majority had taken the heartbeat. */
  LEASE_FROM_ANSWER,
  /** A member lets another leader in sooner after a heartbeat than it has said. */
  VOTE_IN_LEASE,
  /** A leader connects anew after an error, and goes on with its next frame. */
  RECONNECT_BLIND,
  /** A member that is brought in again keeps only what its leader began with. */
  CUT_COUNTED,
  /** A completion counts for the connection that came after its own. */
  STALE_GRANT,
  /** A write counts although its connection broke before it had completed. */
  FAILED_COUNTS,
  /** A leader counts a member that has not adopted its log. */
  ADOPT_UNHEARD
}
